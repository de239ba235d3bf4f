"""A noisy row as one token per column: the input of the network."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sdv_tabdiff.diffusion.categories import CategoryLayout
from sdv_tabdiff.diffusion.roles import Roles

# How finely the first embeddings of ordered levels may vary along the order.
ORDER_WAVES = 4

# Waves of a number to begin with: from one in four standard deviations to four in one.
SLOWEST, FASTEST = 0.25, 4.0


def ordered_embedding(levels: int, dim: int) -> Tensor:
    """Random embeddings of unit variance that vary smoothly along an order: ``(levels, dim)``.

    A line and a few cosines over the levels, mixed at random. What is learned about a level then
    holds for its neighbours too, until the data say otherwise.
    """
    position = torch.linspace(-1, 1, levels).unsqueeze(1)
    frequencies = math.pi / 2 * torch.arange(1, ORDER_WAVES + 1)
    waves = math.sqrt(2) * torch.cos(frequencies * (position + 1))
    basis = torch.cat([math.sqrt(3) * position, waves], dim=1)
    return basis @ torch.randn(basis.shape[1], dim) / math.sqrt(basis.shape[1])


class Waves(nn.Module):
    """Sines and cosines of each number, at frequencies of its own, as part of its token.

    A network of smooth units takes long to learn what differs over a small distance: a gap, an
    edge, a narrow peak. Waves show it at once (Gorishniy et al. 2022, 'On embeddings for numerical
    features in tabular deep learning').

    Shape:
        ``(rows, numerical)`` -> ``(rows, numerical, dim)``.
    """

    def __init__(self, num_numerical: int, frequencies: int, dim: int):
        super().__init__()
        start = SLOWEST * (FASTEST / SLOWEST) ** torch.linspace(0, 1, frequencies)
        self.frequencies = nn.Parameter(start.repeat(num_numerical, 1))
        scale = 0.3 / math.sqrt(frequencies)
        self.weight = nn.Parameter(scale * torch.randn(num_numerical, 2 * frequencies, dim))

    def forward(self, x: Tensor) -> Tensor:
        """The part of the tokens that the waves make up."""
        angles = 2 * math.pi * self.frequencies * x.unsqueeze(-1)
        waves = torch.cat([angles.sin(), angles.cos()], dim=-1)
        return torch.bmm(waves.transpose(0, 1), self.weight).transpose(0, 1)


class Tokenizer(nn.Module):
    """One token per column: ``x_i w_i + b_i`` of a number, an embedding plus bias of a category.

    A number may be shown as ``Waves``, too. The bias tells the columns apart; no further positional
    encoding is needed. A known or hidden cell's token carries a flag. A known number has a weight
    ``w_i`` of its own, which sets it apart from a noisy one without any multiplication by the flag;
    a hidden number's value does not count.

    Shape:
        ``(rows, numerical)`` floats and ``(rows, categorical)`` codes -> ``(rows, columns, dim)``.
    """

    def __init__(self, num_numerical: int, layout: CategoryLayout, dim: int, frequencies: int = 0):
        super().__init__()
        self.layout = layout
        has_waves = frequencies > 0 and num_numerical > 0
        self.waves = Waves(num_numerical, frequencies, dim) if has_waves else None
        self.weight = nn.Parameter(torch.randn(num_numerical, dim))
        self.bias = nn.Parameter(0.1 * torch.randn(num_numerical + layout.num_columns, dim))
        self.embedding = nn.Embedding(max(layout.num_tokens, 1), dim)
        self.known_weight = nn.Parameter(torch.randn(num_numerical, dim))
        self.known_flag = nn.Parameter(0.1 * torch.randn_like(self.bias))
        self.hidden_flag = nn.Parameter(0.1 * torch.randn_like(self.bias))

    @torch.no_grad()
    def start_in_order(self, ordered: Sequence[int]) -> None:
        """Give neighbouring levels similar embeddings to begin with.

        Args:
            ordered: For each categorical column the number of its first levels that stand in an
                order; 0 if none do.
        """
        for offset, levels in zip(self.layout.token_offsets.tolist(), ordered):
            if levels > 2:
                dim = self.embedding.embedding_dim
                self.embedding.weight[offset : offset + levels] = ordered_embedding(levels, dim)

    def forward(self, x_num: Tensor, x_cat: Tensor, roles: Roles | None = None) -> Tensor:
        """Tokens of noisy rows."""
        numbers = self._numbers(x_num, roles)
        categories = self.embedding(x_cat + self.layout.token_offsets)
        tokens = torch.cat([numbers, categories], dim=1) + self.bias
        if roles is None:
            return tokens

        tokens = torch.addcmul(tokens, roles.known.to(tokens).unsqueeze(-1), self.known_flag)
        return torch.addcmul(tokens, roles.hidden.to(tokens).unsqueeze(-1), self.hidden_flag)

    def _numbers(self, x_num: Tensor, roles: Roles | None) -> Tensor:
        """What the numbers say, shape ``(rows, numerical, dim)``; 0 for hidden ones."""
        if roles is None:
            numbers = x_num.unsqueeze(-1) * self.weight
            return numbers if self.waves is None else numbers + self.waves(x_num)

        noisy = (x_num * roles.numerical(roles.wanted)).unsqueeze(-1)
        known = (x_num * roles.numerical(roles.known)).unsqueeze(-1)
        numbers = noisy * self.weight + known * self.known_weight
        if self.waves is None:
            return numbers

        visible = ~roles.numerical(roles.hidden)
        return torch.addcmul(numbers, visible.to(numbers).unsqueeze(-1), self.waves(x_num))
