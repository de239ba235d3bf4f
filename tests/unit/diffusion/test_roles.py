"""Which cells are known and hidden while training."""

import numpy as np
import pytest
import torch

from sdv_tabdiff.diffusion.roles import (
    HIDE_KNOWN_SHARE,
    MAX_ROW_WEIGHT,
    Roles,
    draw_roles,
    feature_columns,
)

NUM_ROWS = 40_000


def draw(share=0.5, columns=(0, 1, 2, 1, 3, 4), num_numerical=3):
    return draw_roles(
        NUM_ROWS,
        torch.tensor(columns),
        len(set(columns)),
        num_numerical,
        share,
        torch.Generator().manual_seed(0),
    )


def test_no_cell_is_known_and_hidden():
    roles = draw()

    assert not (roles.known & roles.hidden).any()
    assert torch.equal(roles.wanted, ~roles.known & ~roles.hidden)


def test_features_of_one_column_share_a_role():
    roles = draw()

    assert torch.equal(roles.known[:, 1], roles.known[:, 3])
    assert torch.equal(roles.hidden[:, 1], roles.hidden[:, 3])
    assert not torch.equal(roles.known[:, 1], roles.known[:, 2])


def test_the_number_of_known_columns_is_uniform():
    roles = draw(share=1.0, columns=(0, 1, 2, 3))
    # Rows whose chosen cells are hidden instead have none that are known.
    count = np.bincount(roles.known.sum(1), minlength=5) / NUM_ROWS

    expected = (1 - HIDE_KNOWN_SHARE) / 5
    assert count[1:] == pytest.approx(expected, abs=4.5 * np.sqrt(expected / NUM_ROWS))


@pytest.mark.parametrize('share', [0.0, 0.3, 1.0])
def test_the_other_rows_are_wanted_as_a_whole(share):
    roles = draw(share)

    # Rows with a share of roles may still choose no column: one in six with five columns.
    whole = roles.wanted.all(1).double().mean().item()
    assert 1 - share <= whole + 4.5 / np.sqrt(NUM_ROWS)
    assert whole < 1 - share * 0.7 + 1e-9


def test_parts_and_rows():
    roles = draw()

    assert roles.numerical(roles.known).shape == (NUM_ROWS, 3)
    assert torch.equal(roles.categorical(roles.known), roles.known[:, 3:])
    assert torch.equal(roles.take(slice(5, 9)).hidden, roles.hidden[5:9])


def test_features_are_columns_of_their_own_by_default():
    assert feature_columns(3, None) == [0, 1, 2]
    assert feature_columns(3, [1, 0, 1]) == [1, 0, 1]


@pytest.mark.parametrize('columns', [[0, 1], [0, 2, 3], [0, 0, 5]])
def test_impossible_columns_are_refused(columns):
    with pytest.raises(ValueError, match='columns of 3 features'):
        feature_columns(3, columns)


def test_a_row_counts_the_same_however_few_cells_it_asks_for():
    known = torch.tensor([[False] * 4, [True, True, False, False], [True] * 3 + [False]])
    roles = Roles(known, torch.zeros_like(known), 2)

    assert (roles.row_weight * roles.wanted.sum(1, keepdim=True)).flatten().tolist() == [4, 4, 4]


def test_a_row_of_a_wide_table_does_not_count_without_limit():
    known = torch.ones(1, 100).bool()
    known[0, 0] = False

    assert Roles(known, torch.zeros_like(known), 0).row_weight.item() == MAX_ROW_WEIGHT
