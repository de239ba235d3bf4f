import pytest
import torch
from torch import nn

from sdv_tabdiff.diffusion import precision
from sdv_tabdiff.diffusion.muon import ADAM_RMS, POLYNOMIALS, Muon, orthogonalised


@pytest.fixture(autouse=True)
def exact_products(monkeypatch):
    """Products of float32 in float32, whatever the hardware; see ``test_precision`` for others."""
    monkeypatch.setattr(precision, 'has_bfloat16_units', lambda device_type: False)


def random_matrices(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


class TestOrthogonalised:
    @pytest.mark.parametrize('shape', [(3, 16, 16), (2, 8, 24), (2, 24, 8)])
    def test_singular_values_are_near_1(self, shape):
        matrices = random_matrices(*shape)
        before = torch.linalg.svdvals(matrices)
        large = before > 0.0102 * matrices.norm(dim=(1, 2)).unsqueeze(1)

        after = torch.linalg.svdvals(orthogonalised(matrices))

        # The polynomials trade exactness for speed: this is the band that they lead to.
        assert after[large].min() > 0.73 - 0.001
        assert after[large].max() < 1.27 + 0.001
        assert large.float().mean() > 0.8

    def test_the_band_of_the_polynomials(self):
        values = torch.linspace(0.01, 1, 100_001, dtype=torch.float64)
        for a, b, c in POLYNOMIALS:
            values = a * values + b * values**3 + c * values**5

        assert values.min() > 0.73 - 0.001
        assert values.max() < 1.27 + 0.001

    @pytest.mark.parametrize('shape', [(1, 16, 16), (1, 8, 24), (1, 24, 8)])
    def test_singular_vectors_stay(self, shape):
        matrix = random_matrices(*shape)
        left, _, right = torch.linalg.svd(matrix[0], full_matrices=False)

        rotated = left.T @ orthogonalised(matrix)[0] @ right.T

        off_diagonal = rotated - rotated.diag().diag()
        assert off_diagonal.abs().max() < 1e-4

    def test_scale_does_not_matter(self):
        matrix = random_matrices(1, 8, 8)
        torch.testing.assert_close(orthogonalised(1e-3 * matrix), orthogonalised(1e3 * matrix))

    def test_zero_stays_zero(self):
        assert (orthogonalised(torch.zeros(2, 4, 4)) == 0).all()


class TestMuon:
    def test_a_step_is_as_long_as_one_of_adam(self):
        weight = nn.Parameter(torch.zeros(32, 64))
        weight.grad = random_matrices(32, 64)

        Muon([weight], lr=0.1).step()

        # 32 singular values near 1 on 32 x 64 entries: a root mean square of about 1 / 8, times the
        # scale of a matrix whose longer side is 64.
        length = weight.detach().square().mean().sqrt().item()
        assert length == pytest.approx(0.1 * ADAM_RMS, rel=0.3)

    @pytest.mark.skipif(not hasattr(torch.optim, 'Muon'), reason='PyTorch 2.9 has the reference')
    @pytest.mark.parametrize('shape', [(24, 24), (12, 40), (40, 12)])
    def test_steps_are_close_to_those_of_pytorch(self, shape):
        ours, theirs = (nn.Parameter(torch.zeros(shape)) for _ in range(2))
        optimizers = (
            Muon([ours], lr=0.1),
            torch.optim.Muon(
                [theirs], lr=0.1, weight_decay=0, adjust_lr_fn='match_rms_adamw', momentum=0.95
            ),
        )
        for gradient in random_matrices(5, *shape):
            for weight, optimizer in zip((ours, theirs), optimizers):
                weight.grad = gradient.clone()
                optimizer.step()

        # The same singular vectors; other polynomials lead to other values near 1.
        assert torch.cosine_similarity(ours.flatten(), theirs.flatten(), dim=0) > 0.97
        assert (ours.norm() / theirs.norm()).item() == pytest.approx(1, abs=0.2)

    def test_the_first_step_goes_down_the_gradient(self):
        weights = [nn.Parameter(torch.zeros(6, 6)), nn.Parameter(torch.zeros(6, 6))]
        weights[0].grad = random_matrices(6, 6)
        weights[1].grad = -2 * weights[0].grad

        Muon(weights, lr=0.1).step()

        assert (weights[0] * weights[0].grad).sum() < 0
        torch.testing.assert_close(weights[1].data, -weights[0].data)

    def test_an_ill_conditioned_problem_is_solved_in_few_steps(self):
        # Least squares whose curvatures differ by a hundred.
        scales = torch.logspace(-1, 0, 16)
        target = random_matrices(16, 16)
        weight = nn.Parameter(torch.zeros(16, 16))
        optimizer = Muon([weight], lr=0.1)

        for step in range(300):
            optimizer.param_groups[0]['lr'] = 0.1 * (1 - step / 300)
            optimizer.zero_grad()
            (((weight - target) @ scales.diag()) ** 2).sum().backward()
            optimizer.step()

        assert (weight - target).abs().max() < 0.1

    def test_matrices_take_turns(self):
        weights = [nn.Parameter(torch.zeros(6, 6)) for _ in range(3)]
        single = nn.Parameter(torch.zeros(6, 3))
        optimizer = Muon([*weights, single], lr=0.1, turns=2)
        moved = []
        for gradients in random_matrices(4, 6, 6):
            before = [weight.detach().clone() for weight in (*weights, single)]
            for weight in weights:
                weight.grad = gradients.clone()
            single.grad = gradients[:, :3].clone()
            optimizer.step()
            moved.append([not torch.equal(*pair) for pair in zip(before, (*weights, single))])

        # A matrix that is the only one of its shape has no one to take turns with.
        assert moved == [[True, False, True, True], [False, True, False, True]] * 2

    def test_turns_lead_as_far_as_steps_of_all(self):
        gradient = random_matrices(8, 8)
        lengths = []
        for turns in (1, 2):
            weights = [nn.Parameter(torch.zeros(8, 8)) for _ in range(2)]
            optimizer = Muon(weights, lr=0.1, turns=turns)
            for _ in range(6):
                for weight in weights:
                    weight.grad = gradient.clone()
                optimizer.step()
            lengths.append(torch.stack([weight.detach() for weight in weights]))

        # The same gradient every time has the same direction, whenever a turn is.
        torch.testing.assert_close(lengths[1], lengths[0], rtol=1e-3, atol=1e-4)

    def test_a_matrix_without_a_gradient_stays(self):
        weight = nn.Parameter(torch.ones(2, 2))
        Muon([weight], lr=0.1).step()
        assert (weight == 1).all()

    def test_only_matrices(self):
        with pytest.raises(ValueError, match='matrices'):
            Muon([nn.Parameter(torch.zeros(3))], lr=0.1)
