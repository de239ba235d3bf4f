import numpy as np
import pytest

from sdv_tabdiff.evaluation import dcr_share

from .tables import METADATA, levels, numbers, people


def test_a_copy_of_the_training_rows_is_exposed():
    trained, unseen = people(300, 0), people(300, 1)

    assert dcr_share(trained, trained, METADATA, unseen) == pytest.approx(1)
    assert dcr_share(trained, unseen, METADATA, unseen) == pytest.approx(0)


@pytest.mark.parametrize('sizes', [(500, 500), (900, 100), (100, 900)])
def test_a_copy_is_exposed_whatever_the_sizes(sizes):
    rng = np.random.default_rng(0)
    trained, metadata = numbers(x=rng.normal(size=sizes[0]), y=rng.normal(size=sizes[0]))
    unseen, _ = numbers(x=rng.normal(size=sizes[1]), y=rng.normal(size=sizes[1]))

    assert dcr_share(trained, trained, metadata, unseen) == pytest.approx(1)


@pytest.mark.parametrize('sizes', [(1000, 1000), (1800, 200), (200, 1800)])
def test_rows_of_the_same_distribution_get_half(sizes):
    rng = np.random.default_rng(0)
    trained, unseen, made = (
        numbers(x=rng.normal(size=size), y=rng.normal(size=size)) for size in (*sizes, 4000)
    )

    share = dcr_share(trained[0], made[0], trained[1], unseen[0])

    # The deviation of the count of the smaller part, which many synthetic rows share.
    assert share == pytest.approx(0.5, abs=2 / np.sqrt(min(sizes)))


def test_a_mixture_of_copies_and_new_rows():
    rng = np.random.default_rng(0)
    trained, unseen, made = (
        numbers(x=rng.normal(size=2000), y=rng.normal(size=2000)) for _ in range(3)
    )
    made[0].iloc[:1000] = trained[0].iloc[:1000]

    share = dcr_share(trained[0], made[0], trained[1], unseen[0])

    assert share == pytest.approx(0.75, abs=0.04)


@pytest.mark.parametrize('sizes', [(100, 100), (100, 40)])
def test_ties_are_split_evenly(sizes):
    trained, metadata = levels(a=['x', 'y'] * (sizes[0] // 2))
    unseen, _ = levels(a=['x', 'y'] * (sizes[1] // 2))

    assert dcr_share(trained, trained, metadata, unseen) == pytest.approx(0.5)


def test_a_different_level_weighs_as_much_as_two_whole_ranges():
    trained, metadata = numbers(a=[0.0, 1.0])
    metadata = {'columns': metadata['columns'] | {'b': {'sdtype': 'categorical'}}}
    trained = trained.assign(b=['x', 'x'])
    unseen = trained.assign(a=[2.9, 3.1], b=['x', 'x'])
    made = trained.iloc[:1].assign(a=[1.0], b=['z'])

    # To the training row of the same number: one other level, 2. To the nearest other: 1.9 + 2.
    assert dcr_share(trained, made, metadata, unseen) == 1
    # The same level at 1.9 beats the other level at the same number.
    assert dcr_share(trained, made.assign(b=['y']), metadata, unseen.assign(b=['y', 'y'])) == 0
