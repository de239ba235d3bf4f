"""Models whose exact answer is known, to test samplers without training."""

import numpy as np
import torch

from sdv_tabdiff.diffusion import DenoiserSizes, Given, MixedDiffusion, Roles

TINY = DenoiserSizes(trunk_dims=(4,), time_dim=2, token_dim=1)


class GaussianOracle(MixedDiffusion):
    """Numbers from N(0, covariance): the posterior mean is a linear map of the noisy row."""

    def __init__(self, covariance):
        super().__init__(len(covariance), [], TINY)
        self.covariance = torch.as_tensor(covariance, dtype=torch.float32)

    def denoise(self, noisy):
        rows, size = noisy.x_num.shape
        noise = noisy.sigma.double().expand(rows, size) ** 2
        if noisy.roles is not None:
            # A known number has no noise, a hidden one has nothing else.
            noise = noise.masked_fill(noisy.roles.known, 1e-12).masked_fill(
                noisy.roles.hidden, 1e12
            )

        if (noise == noise[0]).all():
            noise = noise[:1]

        covariance = self.covariance.double()
        gain = torch.linalg.solve(covariance + torch.diag_embed(noise), covariance)
        denoised = (noisy.x_num.double().unsqueeze(1) @ gain).squeeze(1)
        return denoised.float(), torch.empty(rows, 0)


class MarginalOracle(MixedDiffusion):
    """One category with known shares."""

    def __init__(self, shares):
        super().__init__(0, [len(shares)], TINY)
        self.shares = shares

    def denoise(self, noisy):
        return torch.empty(len(noisy.x_cat), 0), self.shares.log().expand(len(noisy.x_cat), -1)


class DiscreteOracle(MixedDiffusion):
    """Two categories with a known joint distribution."""

    def __init__(self, joint):
        super().__init__(0, joint.shape, TINY)
        self.joint = torch.as_tensor(joint, dtype=torch.float32)

    def denoise(self, noisy):
        first, second = noisy.x_cat[:, 0], noisy.x_cat[:, 1]
        rows, columns = self.joint.shape
        # One extra row and column for [MASK]: the marginal of the other category.
        given_second = torch.cat([self.joint, self.joint.sum(1, keepdim=True)], dim=1)
        given_first = torch.cat([self.joint, self.joint.sum(0, keepdim=True)], dim=0)
        logits = [given_second[:, second].T.log(), given_first[first].log()]
        assert logits[0].shape[1] == rows and logits[1].shape[1] == columns
        return torch.empty(len(noisy.x_cat), 0), torch.cat(logits, dim=1)


def assert_same_shares(counts, probabilities, deviations=4.5):
    """Fail if observed counts are further from their probabilities than chance allows."""
    counts, probabilities = np.asarray(counts), np.asarray(probabilities)
    total = counts.sum()
    tolerance = deviations * np.sqrt(probabilities * (1 - probabilities) / total) + 1e-9
    difference = np.abs(counts / total - probabilities)
    assert (difference <= tolerance).all(), f'expected {probabilities}, found {counts / total}'


class MixedOracle(MixedDiffusion):
    """A category with known shares, and a number that is N(mean of the category, variance)."""

    def __init__(self, shares, means, variance):
        super().__init__(1, [len(shares)], TINY)
        self.shares = torch.as_tensor(shares, dtype=torch.float64)
        self.means = torch.as_tensor(means, dtype=torch.float64)
        self.variance = variance

    def denoise(self, noisy):
        x = noisy.x_num.double()
        noise = noisy.sigma.double().expand_as(x) ** 2
        log_p = self.shares.log() - (x - self.means) ** 2 / 2 / (self.variance + noise)
        if noisy.roles is not None:
            noise = noise * ~noisy.roles.known[:, :1]
            log_p = self.shares.log() - (x - self.means) ** 2 / 2 / (self.variance + noise)
            log_p = torch.where(noisy.roles.hidden[:, :1], self.shares.log(), log_p)

        masked = noisy.x_cat == len(self.shares)
        visible = torch.nn.functional.one_hot(noisy.x_cat.flatten(), len(self.shares) + 1)[:, :-1]
        weights = torch.where(masked, log_p.softmax(1), visible.double())
        pull = self.variance / (self.variance + noise)
        denoised = (weights * (self.means + pull * (x - self.means))).sum(1, keepdim=True)
        return denoised.float(), log_p.float()


def given_rows(model, x_num, x_cat, known, limits=None):
    """Rows of which the cells ``known`` (numerical features first) are given."""
    x_num = torch.as_tensor(x_num, dtype=torch.float32)
    x_cat = torch.as_tensor(x_cat, dtype=torch.int64)
    cells = torch.as_tensor(known).expand(len(x_num), -1)
    roles = Roles(cells, torch.zeros_like(cells), model.num_numerical)
    return Given(x_num, x_cat, roles, limits)
