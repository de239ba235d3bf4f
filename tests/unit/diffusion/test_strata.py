"""Evenly spread random numbers: each with its distribution, together closer to it than chance."""

import numpy as np
import pytest
import torch
from scipy.special import ndtr
from scipy.stats import chisquare, kstest

from sdv_tabdiff.diffusion.strata import across_groups, normal_across_rows, within_rows

CPU = torch.device('cpu')


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_cells_of_a_row_keep_their_distance():
    uniform = within_rows(torch.ones(500, 10).bool(), generator())

    assert (uniform.sort(dim=1).values.diff(dim=1) > 0.0999).all()
    # Each on its own is uniform: mean 1/2, variance 1/12.
    assert uniform.mean(0).numpy() == pytest.approx(0.5, abs=4.5 * np.sqrt(1 / 12 / 500))


def test_other_cells_come_after_those_asked_for():
    cells = torch.tensor([[True, False, True], [False, False, False]])

    uniform = within_rows(cells, generator())

    assert (uniform[cells] < 1).all()
    assert (uniform[0, 1] >= 1) and (uniform[1] >= 0).all()


def test_each_column_of_normal_draws_has_one_in_every_interval():
    draws = normal_across_rows(1000, 3, CPU, generator())

    strata = np.floor(ndtr(draws.double().numpy()) * 1000)
    assert draws.dtype == torch.float32
    # Rounding to float32 may move a draw over the edge of its interval.
    assert all(len(np.unique(column)) >= 990 for column in strata.T)


def test_columns_of_normal_draws_are_independent():
    draws = normal_across_rows(10_000, 2, CPU, generator())

    assert np.corrcoef(draws.T)[0, 1] == pytest.approx(0, abs=4.5 / np.sqrt(10_000))


def test_a_single_normal_draw_is_normal():
    source = generator()

    draws = [normal_across_rows(1, 1, CPU, source).item() for _ in range(2000)]

    assert kstest(draws, 'norm').pvalue > 1e-4


def test_no_draws_without_rows_or_columns():
    assert normal_across_rows(0, 3, CPU, generator()).shape == (0, 3)
    assert normal_across_rows(3, 0, CPU, generator()).shape == (3, 0)
    assert across_groups(torch.empty(0, 2), generator()).shape == (0, 2)
    assert across_groups(torch.empty(2, 0), generator()).shape == (2, 0)


def test_the_rows_of_a_group_cover_the_unit_interval():
    groups = torch.arange(1000).reshape(-1, 1).expand(-1, 2) % 20

    uniform = across_groups(groups, generator())

    for column in range(2):
        for group in range(20):
            draws = uniform[:, column][groups[:, column] == group]
            # Of 50 draws the largest gap is below 2 / 50 (three-distance theorem).
            assert np.diff(np.sort(draws), prepend=0, append=1).max() < 2 / 50


def test_a_draw_on_its_own_is_uniform_whatever_its_group():
    source, groups = generator(), torch.tensor([[0], [1], [1], [2]])

    draws = torch.stack([across_groups(groups, source)[:, 0] for _ in range(2000)]).numpy()

    assert all(kstest(column, 'uniform').pvalue > 1e-4 for column in draws.T)


def test_columns_of_draws_are_independent_though_their_groups_are_the_same():
    groups = torch.randint(20, (10_000, 1), generator=generator(1)).expand(-1, 2)

    draws = across_groups(groups, generator())

    assert np.corrcoef(draws.T)[0, 1] == pytest.approx(0, abs=4.5 / np.sqrt(10_000))
    counts, _, _ = np.histogram2d(*draws.T.numpy(), bins=10)
    assert chisquare(counts.ravel()).pvalue > 1e-4
