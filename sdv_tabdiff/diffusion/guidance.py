"""Classifier-free guidance: from what the known cells change, more of it.

    D~      = (1 + omega) D(x, y)       - omega D(x)
    log p~  = (1 + omega) log p(.|x, y) - omega log p(.|x)

``D(x)`` does not see the known cells ``y``. It comes from the same network with those cells hidden,
or, as in the paper, from a second network of the target columns alone.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from sdv_tabdiff.diffusion.process import MixedDiffusion, NoisyRows
from sdv_tabdiff.diffusion.roles import Roles


@dataclass(frozen=True)
class Guide:
    """Where ``D(x)`` comes from, and how far to go.

    Args:
        model: The network that does not see the known cells.
        numerical: Its numerical features, as positions among those of the guided model.
        categorical: Its categorical features, likewise.
        strength: ``omega``, at least 0.
    """

    model: MixedDiffusion
    numerical: list[int]
    categorical: list[int]
    strength: float

    @classmethod
    def hiding(cls, model: MixedDiffusion, strength: float) -> 'Guide':
        """Guidance by the model itself with the known cells hidden."""
        numerical, categorical = range(model.num_numerical), range(model.layout.num_columns)
        return cls(model, list(numerical), list(categorical), strength)

    def sharpen(
        self, model: MixedDiffusion, rows: NoisyRows, denoised: Tensor, logits: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The guided prediction of ``model`` for rows with known cells.

        Features that the guide does not have keep their prediction.
        """
        unaware_numbers, unaware_logits = self.model.denoise(self._without_known(model, rows))
        log_p = model.layout.log_softmax(logits)
        unaware = log_p.clone()
        unaware_log_p = self.model.layout.log_softmax(unaware_logits)
        for position, column in enumerate(self.categorical):
            unaware[:, model.layout.slice_of(column)] = unaware_log_p[
                :, self.model.layout.slice_of(position)
            ]

        guided = denoised.clone()
        own = denoised[:, self.numerical]
        guided[:, self.numerical] = own + self.strength * (own - unaware_numbers)
        return guided, log_p + self.strength * (log_p - unaware)

    def _without_known(self, model: MixedDiffusion, rows: NoisyRows) -> NoisyRows:
        """The guide's features of the rows, with known cells hidden."""
        codes, roles = rows.x_cat, None
        if rows.roles is not None:
            known = rows.roles.categorical(rows.roles.known)
            codes = torch.where(known, model.layout.mask_codes, codes)
            features = [*self.numerical, *(model.num_numerical + i for i in self.categorical)]
            hidden = (rows.roles.known | rows.roles.hidden)[:, features]
            roles = Roles(torch.zeros_like(hidden), hidden, len(self.numerical))

        return NoisyRows(
            rows.x_num[:, self.numerical],
            codes[:, self.categorical],
            rows.masked[:, self.categorical],
            rows.sigma[:, self.numerical],
            rows.t,
            roles,
        )
