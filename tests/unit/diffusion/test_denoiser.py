"""The network: preconditioning, shapes, and which cells it may look at."""

import pytest
import torch

from sdv_tabdiff.diffusion import CategoryLayout, Denoiser, DenoiserSizes, Roles
from sdv_tabdiff.diffusion.denoiser import (
    c_in,
    c_out,
    c_skip,
    dropout,
    sinusoidal_embedding,
)

PAPER_LIKE = DenoiserSizes(
    token_dim=4, encoder_layers=2, decoder_layers=2, trunk_dims=(16, 32, 16), residual=False
)
SMALL = DenoiserSizes(trunk_dims=(16, 16), time_dim=8)
SIZES = {'paper': PAPER_LIKE, 'residual': SMALL}


def build(num_numerical, levels, sizes):
    torch.manual_seed(0)
    return Denoiser(num_numerical, CategoryLayout(levels), sizes)


@pytest.mark.parametrize('sigma', [0.002, 0.5, 1.0, 80.0])
def test_preconditioning_gives_unit_variance_to_input_and_target(sigma):
    # x_t = x_0 + sigma eps with unit variance data: var(c_in x_t) = 1, and the target
    # F = (x_0 - c_skip x_t) / c_out has variance ((1 - c_skip)^2 + (c_skip sigma)^2) / c_out^2.
    sigma = torch.tensor(sigma, dtype=torch.float64)

    target = ((1 - c_skip(sigma)) ** 2 + (c_skip(sigma) * sigma) ** 2) / c_out(sigma) ** 2

    assert (c_in(sigma) ** 2 * (1 + sigma**2)).item() == pytest.approx(1)
    assert target.item() == pytest.approx(1)


@pytest.mark.parametrize('sizes', SIZES.values(), ids=SIZES)
@pytest.mark.parametrize(
    ('num_numerical', 'levels'), [(2, [2, 2, 5]), (3, []), (0, [4]), (1, []), (0, [1000])]
)
def test_shapes_for_every_kind_of_table(sizes, num_numerical, levels):
    denoiser = build(num_numerical, levels, sizes)
    x_num = torch.randn(6, num_numerical)
    x_cat = torch.tensor(levels, dtype=torch.int64).expand(6, -1)

    for rows in (1, 6):
        numbers, logits = denoiser(
            x_num, x_cat, torch.ones(rows, num_numerical), torch.full((rows, 1), 0.5)
        )
        assert numbers.shape == (6, num_numerical)
        assert logits.shape == (6, sum(levels))


@pytest.mark.parametrize('sizes', SIZES.values(), ids=SIZES)
def test_one_time_for_all_rows_equals_the_same_time_in_each_row(sizes):
    denoiser = build(2, [3], sizes)
    x_num, x_cat = torch.randn(5, 2), torch.tensor([[0], [1], [2], [3], [3]])

    shared = denoiser(x_num, x_cat, torch.full((1, 2), 0.7), torch.full((1, 1), 0.3))
    repeated = denoiser(x_num, x_cat, torch.full((5, 2), 0.7), torch.full((5, 1), 0.3))

    for one, other in zip(shared, repeated):
        assert torch.allclose(one, other, atol=1e-6)


@pytest.mark.parametrize('sizes', SIZES.values(), ids=SIZES)
def test_every_output_sees_every_input(sizes):
    denoiser = build(2, [2, 3], sizes)
    x_num = torch.randn(1, 2, requires_grad=True)
    x_cat = torch.tensor([[2, 3]])
    sigma, t = torch.ones(1, 2), torch.full((1, 1), 0.5)

    _, logits = denoiser(x_num, x_cat, sigma, t)
    (gradient,) = torch.autograd.grad(logits[0, -1], x_num)
    changed, _ = denoiser(x_num, torch.tensor([[0, 3]]), sigma, t)
    unchanged, _ = denoiser(x_num, x_cat, sigma, t)

    assert (gradient != 0).all()
    assert (changed != unchanged).all()


@pytest.mark.parametrize('sizes', SIZES.values(), ids=SIZES)
def test_it_starts_at_the_marginals(sizes):
    denoiser = build(2, [2, 3], sizes)
    shares = torch.tensor([0.9, 0.1, 0.2, 0.3, 0.5])
    denoiser.start_at_marginals(shares.log())
    x_num, sigma = torch.randn(4, 2), torch.full((1, 2), 2.0)

    numbers, logits = denoiser(x_num, torch.tensor([[2, 3]]).expand(4, -1), sigma, torch.ones(1, 1))

    assert torch.allclose(numbers, x_num / 5, atol=1e-6)
    assert torch.allclose(torch.softmax(logits[:, :2], dim=1), shares[:2].expand(4, -1), atol=0.1)


def test_the_number_of_parameters_grows_with_the_sum_of_levels_only():
    def count(levels):
        return sum(parameter.numel() for parameter in build(0, levels, SMALL).parameters())

    # A token and a row of the head for each level of the wide column, nothing for the others.
    per_level = SMALL.token_dim + SMALL.trunk_dims[-1] + 1
    assert count([2] * 9 + [1000]) - count([2] * 9 + [10]) == 990 * per_level


def test_time_embedding_tells_neighbouring_times_apart():
    times = torch.tensor([[0.5], [0.51]])

    embedded = sinusoidal_embedding(times, 64)

    assert embedded.shape == (2, 64)
    assert (embedded[0] - embedded[1]).norm() > 0.5


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'token_dim': 4, 'attention_heads': 3}, 'must divide'),
        ({'trunk_dims': ()}, 'at least one layer'),
        ({'trunk_dims': (8, 16)}, 'share one width'),
        ({'time_dim': 7}, 'even'),
    ],
)
def test_impossible_sizes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        DenoiserSizes(**arguments)


def roles(known, hidden, num_numerical, rows=6):
    return Roles(
        torch.tensor([known]).expand(rows, -1),
        torch.tensor([hidden]).expand(rows, -1),
        num_numerical,
    )


@pytest.mark.parametrize('sizes', SIZES.values(), ids=SIZES)
class TestRoles:
    def prepared(self, sizes):
        denoiser = build(2, [3], sizes)
        x_num, x_cat = torch.randn(6, 2), torch.randint(0, 3, (6, 1))
        return denoiser, x_num, x_cat, torch.ones(1, 2), torch.ones(1, 1)

    def test_a_known_number_is_returned_as_it_is(self, sizes):
        denoiser, x_num, x_cat, sigma, t = self.prepared(sizes)

        numbers, _ = denoiser(x_num, x_cat, sigma, t, roles([True, False, False], [False] * 3, 2))

        assert torch.equal(numbers[:, 0], x_num[:, 0])
        assert not torch.allclose(numbers[:, 1], x_num[:, 1])

    def test_a_hidden_number_does_not_count(self, sizes):
        denoiser, x_num, x_cat, sigma, t = self.prepared(sizes)
        hidden = roles([False] * 3, [True, False, False], 2)
        changed = x_num + torch.tensor([3.0, 0.0])

        first, logits = denoiser(x_num, x_cat, sigma, t, hidden)
        second, other_logits = denoiser(changed, x_cat, sigma, t, hidden)

        assert torch.allclose(first[:, 1], second[:, 1])
        assert torch.allclose(logits, other_logits)
        # Without the role it does.
        assert not torch.allclose(
            denoiser(x_num, x_cat, sigma, t)[1], denoiser(changed, x_cat, sigma, t)[1]
        )

    def test_known_and_noisy_cells_are_told_apart(self, sizes):
        denoiser, x_num, x_cat, sigma, t = self.prepared(sizes)

        _, noisy = denoiser(x_num, x_cat, sigma, t)
        _, known = denoiser(x_num, x_cat, sigma, t, roles([False, False, True], [False] * 3, 2))

        assert not torch.allclose(noisy, known)


@pytest.mark.parametrize('dtype', [torch.float32, torch.bfloat16])
@pytest.mark.parametrize('share', [0.1, 0.5, 0.999])
def test_dropout_leaves_out_its_share_and_keeps_the_mean(share, dtype):
    torch.manual_seed(0)
    x = torch.ones(1001, 333, dtype=dtype)

    kept = dropout(x, share, training=True)

    exact = min(round(256 * share), 255) / 256
    spread = (exact * (1 - exact) / x.numel()) ** 0.5
    assert (kept == 0).float().mean().item() == pytest.approx(exact, abs=4 * spread)
    # Also for every eighth unit, as eight of them share a random word.
    for unit in range(8):
        part = (kept.flatten()[unit::8] == 0).float().mean().item()
        assert part == pytest.approx(exact, abs=4 * spread * 8**0.5)
    assert kept.max().item() == pytest.approx(1 / (1 - exact), rel=0.01)


@pytest.mark.parametrize('sizes', SIZES.values(), ids=SIZES)
def test_dropout_is_for_training_only(sizes):
    denoiser = build(2, [3], sizes)
    rows = torch.randn(6, 2), torch.randint(0, 3, (6, 1)), torch.ones(1, 2), torch.ones(1, 1)
    without = denoiser(*rows)[1]

    denoiser.trunk.dropout = 0.5
    during, after = denoiser.train()(*rows)[1], denoiser.eval()(*rows)[1]

    assert not torch.allclose(during, without)
    assert torch.equal(after, without)
