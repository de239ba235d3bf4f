"""The network that looks at a noisy row and says what the clean row was.

Tokenizer -> transformer over the columns -> flatten -> trunk conditioned on time -> transformer ->
heads. Either transformer may have depth 0, which leaves the trunk between embeddings and heads.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdv_tabdiff.diffusion.categories import CategoryLayout
from sdv_tabdiff.diffusion.roles import Roles
from sdv_tabdiff.diffusion.tokens import Tokenizer


@dataclass(frozen=True)
class DenoiserSizes:
    """Sizes of the network.

    Args:
        token_dim: Width of a column's token.
        encoder_layers: Transformer layers before the trunk.
        decoder_layers: Transformer layers after the trunk.
        attention_heads: Heads of each transformer layer; must divide ``token_dim``.
        feedforward_factor: Width of a transformer layer's feed-forward part, in token widths.
        trunk_dims: Widths of the trunk's layers, or, if ``residual``, of its residual blocks.
        residual: Whether the trunk is a stack of residual blocks modulated by time, instead of
            the plain MLP of the paper.
        time_dim: Width of the time embedding.
        frequencies: Frequencies at which each number is shown to the network, beside the number
            itself. 0 shows the number alone, as in the paper.
    """

    token_dim: int = 8
    encoder_layers: int = 0
    decoder_layers: int = 0
    attention_heads: int = 1
    feedforward_factor: int = 32
    trunk_dims: tuple[int, ...] = (256, 256, 256, 256)
    residual: bool = True
    time_dim: int = 32
    frequencies: int = 8

    def __post_init__(self) -> None:
        if self.token_dim % self.attention_heads:
            raise ValueError(
                f'attention_heads ({self.attention_heads}) must divide token_dim '
                f'({self.token_dim}).'
            )
        if not self.trunk_dims:
            raise ValueError('trunk_dims must name at least one layer.')
        if self.residual and len(set(self.trunk_dims)) > 1:
            raise ValueError(f'Residual blocks share one width, got trunk_dims={self.trunk_dims}.')
        if self.time_dim % 2:
            raise ValueError(f'time_dim must be even, got {self.time_dim}.')


def c_in(sigma: Tensor) -> Tensor:
    """Scale that gives the noisy input unit variance."""
    return (sigma**2 + 1).rsqrt()


def c_skip(sigma: Tensor) -> Tensor:
    """Share of the noisy input that passes to the output: the posterior mean of N(0, 1) data."""
    return 1 / (sigma**2 + 1)


def c_out(sigma: Tensor) -> Tensor:
    """Scale that gives the network's target unit variance."""
    return sigma * (sigma**2 + 1).rsqrt()


def sinusoidal_embedding(t: Tensor, dim: int, max_frequency: float = 1000.0) -> Tensor:
    """Embed times ``t`` of shape ``(rows, 1)`` as sines and cosines, shape ``(rows, dim)``."""
    exponents = torch.arange(dim // 2, dtype=t.dtype, device=t.device) / max(dim // 2 - 1, 1)
    angles = t * max_frequency**exponents
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def dropout(x: Tensor, share: float, training: bool) -> Tensor:
    """Like ``torch.nn.functional.dropout``, to the nearest 256th of a share on a CPU.

    There, a random float for each unit would take a tenth of the training: a random word has bytes
    for eight.
    """
    if not training or share == 0 or x.device.type != 'cpu':
        return F.dropout(x, share, training)

    words = torch.empty(math.ceil(x.numel() / 8), dtype=torch.int64).random_(-(2**63), None)
    units = words.view(torch.uint8)[: x.numel()].view(x.shape)
    dropped = min(round(256 * share), 255)
    return x * ((units >= dropped).to(x.dtype) * (256 / (256 - dropped)))


def _transformer(sizes: DenoiserSizes, layers: int) -> nn.Module:
    if layers == 0:
        return nn.Identity()

    layer = nn.TransformerEncoderLayer(
        d_model=sizes.token_dim,
        nhead=sizes.attention_heads,
        dim_feedforward=sizes.token_dim * sizes.feedforward_factor,
        dropout=0.0,
        batch_first=True,
        norm_first=True,
    )
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


class MLPTrunk(nn.Module):
    """The paper's trunk: the time embedding is added once, then an MLP with SiLU.

    ``dropout`` may be set at any time: the share of the last units that training leaves out.
    """

    def __init__(self, input_dim: int, sizes: DenoiserSizes):
        super().__init__()
        dims = sizes.trunk_dims
        self.output_dim = dims[-1]
        self.project = nn.Linear(input_dim, dims[0])
        self.time = nn.Sequential(
            nn.Linear(sizes.time_dim, dims[0]), nn.SiLU(), nn.Linear(dims[0], dims[0])
        )
        layers: list[nn.Module] = []
        for width_in, width_out in zip(dims, dims[1:]):
            layers += [nn.Linear(width_in, width_out), nn.SiLU()]
        self.layers = nn.Sequential(*layers)
        self.dropout = 0.0

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """``(rows, dim)`` and embedded times ``(rows or 1, time_dim)`` -> ``(rows, width)``."""
        hidden = self.layers(self.project(x) + self.time(time))
        return dropout(hidden, self.dropout, self.training)

    def matrices(self) -> list[Tensor]:
        """The weights on the way of the row through the trunk."""
        linear = [layer for layer in self.layers if isinstance(layer, nn.Linear)]
        return [layer.weight for layer in (self.project, *linear)]


class ResidualBlock(nn.Module):
    """``x + W2 SiLU(W1 (LayerNorm(x) (1 + scale(t)) + shift(t)))``."""

    def __init__(self, width: int, time_dim: int):
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.modulation = nn.Linear(time_dim, 2 * width)
        self.expand = nn.Linear(width, width)
        self.contract = nn.Linear(width, width)

    def forward(self, x: Tensor, time: Tensor, dropped: float = 0.0) -> Tensor:
        """``(rows, dim)`` and embedded times ``(rows or 1, time_dim)`` -> ``(rows, width)``."""
        scale, shift = self.modulation(time).chunk(2, dim=1)
        if len(time) == 1:
            # A sampler's rows share their time: one pass over them instead of three. (It wants one
            # dtype, and a product may have another one.)
            scale, shift = scale[0].to(x.dtype), shift[0].to(x.dtype)
            hidden = F.layer_norm(x, x.shape[1:], 1 + scale, shift)
        else:
            hidden = self.norm(x) * (1 + scale) + shift

        units = dropout(F.silu(self.expand(hidden)), dropped, self.training)
        return x + self.contract(units)


class ResidualTrunk(nn.Module):
    """Residual blocks, each modulated by time.

    ``dropout`` may be set at any time: the share of each block's units that training leaves out.
    """

    def __init__(self, input_dim: int, sizes: DenoiserSizes):
        super().__init__()
        width = sizes.trunk_dims[0]
        self.output_dim = width
        self.project = nn.Linear(input_dim, width)
        self.time = nn.Sequential(nn.Linear(sizes.time_dim, sizes.time_dim), nn.SiLU())
        self.blocks = nn.ModuleList(
            ResidualBlock(width, sizes.time_dim) for _ in range(len(sizes.trunk_dims))
        )
        self.norm = nn.LayerNorm(width)
        self.dropout = 0.0

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """``(rows, dim)`` and embedded times ``(rows or 1, time_dim)`` -> ``(rows, width)``."""
        time = self.time(time)
        x = self.project(x)
        for block in self.blocks:
            x = block(x, time, self.dropout)

        return self.norm(x)

    def matrices(self) -> list[Tensor]:
        """The weights on the way of the row through the trunk."""
        names = ('expand.weight', 'contract.weight')
        inner = [weight for name, weight in self.blocks.named_parameters() if name.endswith(names)]
        return [self.project.weight, *inner]


class DirectHeads(nn.Module):
    """One linear map from the trunk to every number and every level at once."""

    def __init__(self, input_dim: int, num_numerical: int, layout: CategoryLayout):
        super().__init__()
        self.num_numerical = num_numerical
        self.linear = nn.Linear(input_dim, num_numerical + layout.num_logits)

    def start_at_marginals(self, log_frequencies: Tensor) -> None:
        """Ignore the input for numbers, and nearly so for levels."""
        self.linear.weight[: self.num_numerical] = 0
        self.linear.weight[self.num_numerical :] *= 0.1
        self.linear.bias[: self.num_numerical] = 0
        self.linear.bias[self.num_numerical :] = log_frequencies

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Trunk output ``(rows, dim)`` -> ``(rows, numerical)`` and ``(rows, sum of levels)``."""
        output = self.linear(x)
        numbers, logits = output.split(
            [self.num_numerical, output.shape[1] - self.num_numerical], dim=1
        )
        return numbers, logits


class TokenHeads(nn.Module):
    """The paper's heads: each column reads its scalar or its logits off its own token."""

    def __init__(
        self, input_dim: int, num_numerical: int, layout: CategoryLayout, sizes: DenoiserSizes
    ):
        super().__init__()
        self.num_numerical = num_numerical
        self.layout = layout
        self.num_columns = num_numerical + layout.num_columns
        dim = sizes.token_dim
        self.to_tokens = nn.Linear(input_dim, self.num_columns * dim)
        self.transformer = _transformer(sizes, sizes.decoder_layers)
        self.number_weight = nn.Parameter(torch.randn(num_numerical, dim) / math.sqrt(dim))
        self.number_bias = nn.Parameter(torch.zeros(num_numerical))
        self.level_weight = nn.Parameter(torch.randn(layout.num_logits, dim) / math.sqrt(dim))
        self.level_bias = nn.Parameter(torch.zeros(layout.num_logits))

    def start_at_marginals(self, log_frequencies: Tensor) -> None:
        """Ignore the input for numbers, and nearly so for levels."""
        self.number_weight.zero_()
        self.level_weight.mul_(0.1)
        self.level_bias.copy_(log_frequencies)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Trunk output ``(rows, dim)`` -> ``(rows, numerical)`` and ``(rows, sum of levels)``."""
        tokens = self.transformer(self.to_tokens(x).unflatten(1, (self.num_columns, -1)))
        number_tokens, category_tokens = tokens.split(
            [self.num_numerical, self.layout.num_columns], dim=1
        )
        numbers = (number_tokens * self.number_weight).sum(-1) + self.number_bias
        logits = [self.level_bias.new_empty((len(x), 0))]
        for block in self.layout.blocks:
            weight = self.level_weight[block.logits].unflatten(0, (-1, block.levels))
            scores = torch.einsum('rcd,cld->rcl', category_tokens[:, block.columns], weight)
            logits.append(scores.flatten(1))

        return numbers, torch.cat(logits, dim=1) + self.level_bias


class Denoiser(nn.Module):
    """Predicts the clean row from a noisy one.

    Args:
        num_numerical: Number of numerical columns.
        layout: The categorical columns.
        sizes: Sizes of the network.

    Shape:
        ``x_num`` ``(rows, numerical)`` at noise ``sigma`` ``(rows or 1, numerical)``; ``x_cat``
        ``(rows, categorical)`` codes, masks among them; ``t`` ``(rows or 1, 1)``; ``roles`` if
        some cells are known or hidden. Returns the denoised numbers ``(rows, numerical)``, known
        ones unchanged, and the logits ``(rows, sum of levels)``.

    Example:
        >>> denoiser = Denoiser(1, CategoryLayout([3]), DenoiserSizes(trunk_dims=(16,)))
        >>> x_num, x_cat = torch.zeros(4, 1), torch.full((4, 1), 3)
        >>> numbers, logits = denoiser(x_num, x_cat, torch.ones(1, 1), torch.ones(1, 1))
        >>> tuple(numbers.shape), tuple(logits.shape)
        ((4, 1), (4, 3))
    """

    def __init__(self, num_numerical: int, layout: CategoryLayout, sizes: DenoiserSizes):
        super().__init__()
        self.sizes = sizes
        self.num_numerical = num_numerical
        self.layout = layout
        input_dim = (num_numerical + layout.num_columns) * sizes.token_dim
        self.tokenizer = Tokenizer(num_numerical, layout, sizes.token_dim, sizes.frequencies)
        self.embed_roles = nn.Linear(2 * len(self.tokenizer.bias), sizes.time_dim, bias=False)
        self.encoder = _transformer(sizes, sizes.encoder_layers)
        self.trunk = (ResidualTrunk if sizes.residual else MLPTrunk)(input_dim, sizes)
        self.heads: DirectHeads | TokenHeads
        if sizes.decoder_layers:
            self.heads = TokenHeads(self.trunk.output_dim, num_numerical, layout, sizes)
        else:
            self.heads = DirectHeads(self.trunk.output_dim, num_numerical, layout)

    @torch.no_grad()
    def start_at_marginals(self, log_frequencies: Tensor) -> None:
        """Begin at the product of the columns' marginals instead of at random guesses.

        A number's output starts at 0, which is the exact answer for independent N(0, 1) columns; a
        category's logits start at its log frequencies. Even an untrained network then samples
        every column with the right shares.

        Args:
            log_frequencies: Log share of each level, shape ``(sum of levels,)``.
        """
        self.heads.start_at_marginals(log_frequencies)

    def forward(
        self, x_num: Tensor, x_cat: Tensor, sigma: Tensor, t: Tensor, roles: Roles | None = None
    ) -> tuple[Tensor, Tensor]:
        """Denoised numbers and logits of the categories; see the class for the shapes."""
        time = sinusoidal_embedding(t, self.sizes.time_dim)
        if roles is not None:
            sigma = sigma * ~roles.numerical(roles.known)
            # How much to trust a noisy cell depends on what else is known: roles modulate the trunk
            # as time does.
            time = time + self.embed_roles(torch.cat([roles.known, roles.hidden], dim=1).to(time))

        tokens = self.encoder(self.tokenizer(c_in(sigma) * x_num, x_cat, roles))
        output, logits = self.heads(self.trunk(tokens.flatten(1), time))
        denoised = c_skip(sigma) * x_num + c_out(sigma) * output.float()
        return denoised, logits.float()
