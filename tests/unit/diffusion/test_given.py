"""Known cells and limits as tensors."""

import numpy as np
import pytest
import torch
from scipy.stats import truncnorm

from sdv_tabdiff.diffusion import CategoryLayout, Choice, Given, Limits, Roles
from sdv_tabdiff.diffusion.given import truncated_mean


@pytest.mark.parametrize('mean', [-3.0, 0.0, 2.0])
@pytest.mark.parametrize('deviation', [0.05, 1.0])
@pytest.mark.parametrize('bounds', [(-1, 1), (2, 2.5), (-np.inf, -1), (0.5, np.inf), (6, 7)])
def test_truncated_mean_is_scipys(mean, deviation, bounds):
    low, high = bounds
    standard = (low - mean) / deviation, (high - mean) / deviation

    found = truncated_mean(*(torch.tensor(part) for part in (mean, deviation, low, high)))

    assert low <= found.item() <= high
    # Beyond 30 standard deviations scipy itself has no digits left; there the bound is the answer.
    if max(standard[0], -standard[1]) < 30:
        expected = truncnorm(*standard, loc=mean, scale=deviation).mean()
        assert found.item() == pytest.approx(expected, abs=1e-4 * deviation + 1e-6)


def test_without_bounds_the_mean_stays():
    found = truncated_mean(*(torch.tensor(part) for part in (0.3, 1.0, -np.inf, np.inf)))

    assert found.item() == pytest.approx(0.3)


def limits(rows=4):
    low = torch.full((rows, 2), -torch.inf)
    low[1, 1] = 0.5
    weights = torch.tensor([[0.0, -torch.inf, 0.0], [0.0, 0.0, 0.0]])
    return Limits(
        low, torch.full((rows, 2), torch.inf), {1: Choice(weights, torch.arange(rows) % 2)}
    )


def given(rows=4):
    known = torch.zeros(rows, 4).bool()
    known[:, 0] = True
    return Given(
        torch.arange(2.0 * rows).reshape(rows, 2),
        torch.zeros(rows, 2, dtype=torch.int64),
        Roles(known, torch.zeros_like(known), 2),
        limits(rows),
    )


def test_only_limited_columns_are_clamped():
    assert limits().numerical == [1]

    clamped = limits().clamp(torch.zeros(4, 2), {1: torch.ones(4)})

    assert (clamped[:, 0] == 0).all()
    assert clamped[1, 1] > 0.5
    assert clamped[[0, 2, 3], 1].numpy() == pytest.approx(0, abs=1e-6)


def test_levels_outside_the_set_get_no_probability():
    layout = CategoryLayout([2, 3])
    logits = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))

    weighed = limits().weigh(logits, layout)

    assert weighed[::2, 3].isneginf().all()
    assert torch.equal(weighed[1::2], logits[1::2])
    assert torch.equal(weighed[:, :2], logits[:, :2])


def test_settled_cells_are_known_and_no_longer_limited():
    cells = torch.zeros(4, 4).bool()
    cells[:, 1] = True

    settled = given().with_known(cells, torch.full((4, 2), 9.0), torch.ones(4, 2).long())

    assert settled.roles.known[:, :2].all() and not settled.roles.known[:, 2:].any()
    assert settled.x_num[:, 0].tolist() == [0, 2, 4, 6]
    assert (settled.x_num[:, 1] == 9).all()
    assert settled.limits.numerical == []


def test_rows_are_put_where_they_belong():
    cells = torch.ones(2, 4).bool()
    rows = torch.tensor([3, 1])
    part = given().take(rows)
    settled = part.with_known(cells, torch.tensor([[7.0, 7], [8, 8]]), torch.ones(2, 2).long())

    whole = given().put(rows, settled)

    assert whole.x_num[:, 1].tolist() == [1, 8, 5, 7]
    assert whole.x_num[:, 0].tolist() == [0, 2, 4, 6]
    assert whole.roles.known.all(1).tolist() == [False, True, False, True]
    assert whole.limits.low[1, 1].isneginf()


def test_some_of_the_rows():
    part = given().take(slice(1, 3))

    assert part.x_num[:, 0].tolist() == [2, 4]
    assert part.limits.choices[1].set_of.tolist() == [1, 0]
    assert part.to(torch.device('cpu')).limits.low[0, 1] == 0.5


@pytest.mark.parametrize(('low', 'high'), [(-0.1, 0.1), (1.9, 2.1), (-2.6, -2.5), (0.0, 1e-3)])
def test_numbers_of_a_narrow_range_spread_over_it_as_normal_scores_do(low, high):
    rows = 20_000
    limits = Limits(torch.full((rows, 1), low), torch.full((rows, 1), high), {})

    drawn = limits.redraw_narrow(torch.zeros(rows, 1), torch.Generator().manual_seed(0))

    assert drawn.min() >= limits.low[0, 0]
    assert drawn.max() <= limits.high[0, 0]
    truth = truncnorm(low, high)
    assert abs(drawn.double().mean() - truth.mean()) < 4 * truth.std() / rows**0.5
    # The standard deviation of a sample of something nearly uniform, and 1 % for the straight line.
    allowed = 4 * (0.2 / rows) ** 0.5 + 0.01
    assert drawn.double().std() / truth.std() == pytest.approx(1, abs=allowed)


def test_numbers_of_wide_ranges_and_none_stay():
    low = torch.tensor([[-torch.inf, 0.0, -torch.inf, 0.1]])
    high = torch.tensor([[torch.inf, 1.0, 0.1, torch.inf]])
    numbers = torch.randn((1, 4), generator=torch.Generator().manual_seed(0))

    drawn = Limits(low, high, {}).redraw_narrow(numbers, torch.Generator().manual_seed(0))

    assert torch.equal(drawn, numbers)
