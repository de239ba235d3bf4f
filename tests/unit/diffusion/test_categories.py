"""Ragged categories against one column at a time."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from sdv_tabdiff.diffusion import CategoryLayout

LEVELS = [1, 2, 2, 2, 5, 3]


def random_logits(layout, num_rows, seed=0):
    return 3 * torch.randn(
        num_rows, layout.num_logits, generator=torch.Generator().manual_seed(seed)
    )


def test_neighbours_with_equal_levels_share_a_block():
    layout = CategoryLayout(LEVELS)

    assert [block.levels for block in layout.blocks] == [1, 2, 5, 3]
    assert layout.num_logits == sum(LEVELS)
    assert layout.num_tokens == sum(LEVELS) + len(LEVELS)


def test_every_level_and_every_mask_has_a_token_of_its_own():
    layout = CategoryLayout(LEVELS)

    tokens = [
        int(offset) + code
        for offset, size in zip(layout.token_offsets, LEVELS)
        for code in range(size + 1)
    ]

    assert sorted(tokens) == list(range(layout.num_tokens))


def test_cross_entropy_equals_that_of_each_column():
    layout = CategoryLayout(LEVELS)
    logits = random_logits(layout, 7)
    codes = torch.stack([torch.arange(7) % size for size in LEVELS], dim=1)

    expected = [
        F.cross_entropy(part, codes[:, column], reduction='none')
        for column, part in enumerate(logits.split(LEVELS, dim=1))
    ]

    assert torch.allclose(layout.cross_entropy(logits, codes), torch.stack(expected, dim=1))


def uniform_draws(cells, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(cells.shape, dtype=torch.float64, generator=generator)


def test_draws_follow_the_softmax():
    layout = CategoryLayout(LEVELS)
    num_rows = 40_000
    logits = random_logits(layout, 1).expand(num_rows, -1)

    everywhere = torch.ones(num_rows, len(LEVELS), dtype=torch.bool)
    draws = layout.draw(logits, everywhere, uniform_draws(everywhere, seed=1))

    for column, part in enumerate(logits[0].split(LEVELS)):
        probability = torch.softmax(part, dim=0).numpy()
        shares = np.bincount(draws[:, column], minlength=LEVELS[column]) / num_rows
        tolerance = 4.5 * np.sqrt(probability * (1 - probability) / num_rows) + 1e-9
        assert (np.abs(shares - probability) <= tolerance).all()


def test_a_level_without_probability_is_never_drawn():
    layout = CategoryLayout([3])
    logits = torch.tensor([[-torch.inf, 0.0, -torch.inf]]).expand(10_000, -1)

    everywhere = torch.ones(10_000, 1, dtype=torch.bool)
    draws = layout.draw(logits, everywhere, uniform_draws(everywhere, seed=0))

    assert set(draws.flatten().tolist()) == {1}


def test_picking_cells_out_changes_nothing_in_them():
    layout = CategoryLayout(LEVELS)
    logits = random_logits(layout, 200)
    where = torch.rand(200, len(LEVELS), generator=torch.Generator().manual_seed(1)) < 0.3

    uniform = uniform_draws(where, seed=2)

    everywhere = layout.draw(logits, torch.ones_like(where), uniform)
    some = layout.draw(logits, where, uniform)

    assert torch.equal(some[where], everywhere[where])


def test_a_table_without_categories_has_empty_results():
    layout = CategoryLayout([])
    logits = torch.empty(4, 0)

    assert layout.cross_entropy(logits, torch.empty(4, 0, dtype=torch.int64)).shape == (4, 0)
    nowhere = torch.empty(4, 0, dtype=torch.bool)
    assert layout.draw(logits, nowhere, torch.empty(4, 0)).shape == (4, 0)


def test_a_column_without_levels_is_refused():
    with pytest.raises(ValueError, match='at least one level'):
        CategoryLayout([2, 0])
