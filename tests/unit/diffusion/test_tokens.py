"""Rows as tokens: waves of numbers, and the order of levels."""

import math

import pytest
import torch

from sdv_tabdiff.diffusion import CategoryLayout, Roles
from sdv_tabdiff.diffusion.tokens import FASTEST, SLOWEST, Tokenizer, Waves, ordered_embedding


def test_waves_are_sines_and_cosines():
    waves = Waves(2, frequencies=3, dim=4)
    x = torch.tensor([[0.3, -1.2], [2.0, 0.0]])

    found = waves(x)

    for number in range(2):
        angles = 2 * math.pi * waves.frequencies[number] * x[:, number : number + 1]
        expected = torch.cat([angles.sin(), angles.cos()], dim=1) @ waves.weight[number]
        torch.testing.assert_close(found[:, number], expected)


def test_waves_begin_from_slow_to_fast():
    frequencies = Waves(1, frequencies=5, dim=4).frequencies[0]

    assert frequencies[0].item() == pytest.approx(SLOWEST)
    assert frequencies[-1].item() == pytest.approx(FASTEST)
    assert (frequencies.diff() > 0).all()


def test_numbers_that_are_close_are_told_apart_by_waves():
    torch.manual_seed(0)
    layout = CategoryLayout([])
    plain, waving = (Tokenizer(1, layout, 64, frequencies) for frequencies in (0, 8))
    x = torch.tensor([[0.0], [0.1]])
    codes = torch.empty((2, 0), dtype=torch.int64)

    def distance(tokenizer):
        return (tokenizer(x, codes).diff(dim=0).norm() / tokenizer.weight.norm()).item()

    assert distance(waving) > 2 * distance(plain)


@pytest.mark.parametrize('frequencies', [0, 8])
def test_a_hidden_number_does_not_show(frequencies):
    tokenizer = Tokenizer(2, CategoryLayout([3]), 8, frequencies)
    codes = torch.zeros((1, 1), dtype=torch.int64)
    known = torch.tensor([[False, True, False]])
    roles = Roles(known, torch.tensor([[True, False, False]]), 2)

    one = tokenizer(torch.tensor([[0.5, 1.0]]), codes, roles)
    other = tokenizer(torch.tensor([[-2.0, 1.0]]), codes, roles)
    moved = tokenizer(torch.tensor([[0.5, 1.5]]), codes, roles)

    assert torch.equal(one, other)
    assert not torch.equal(one, moved)


def test_neighbouring_levels_begin_with_similar_embeddings():
    torch.manual_seed(0)
    embedding = ordered_embedding(60, 8)

    near = (embedding[1:] - embedding[:-1]).norm(dim=1)
    far = (embedding[30:] - embedding[:-30]).norm(dim=1)
    assert near.max() < 0.3 * far.mean()
    assert embedding.std().item() == pytest.approx(1, abs=0.4)


def test_only_the_levels_in_an_order_are_arranged():
    tokenizer = Tokenizer(0, CategoryLayout([5, 10]), 8)
    before = tokenizer.embedding.weight.detach().clone()

    tokenizer.start_in_order([0, 8])

    changed = (tokenizer.embedding.weight != before).any(1).tolist()
    # Six tokens of the first column (a mask among them), then eight levels in order, two levels
    # that are not, and the mask.
    assert changed == [False] * 6 + [True] * 8 + [False] * 3
