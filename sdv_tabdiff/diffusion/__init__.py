"""The diffusion core: tensors in, tensors out.

Nothing in here knows about pandas, SDV or files, and nothing prints.
"""

from sdv_tabdiff.diffusion.categories import CategoryLayout
from sdv_tabdiff.diffusion.denoiser import Denoiser, DenoiserSizes
from sdv_tabdiff.diffusion.given import Choice, Given, Limits
from sdv_tabdiff.diffusion.guidance import Guide
from sdv_tabdiff.diffusion.process import MixedDiffusion, NoiseSettings
from sdv_tabdiff.diffusion.roles import Roles
from sdv_tabdiff.diffusion.sampler import SamplerSettings, level_probabilities, sample
from sdv_tabdiff.diffusion.schedules import LogLinearSchedule, PowerMeanSchedule
from sdv_tabdiff.diffusion.trainer import NonFiniteLossError, TrainingSettings
from sdv_tabdiff.diffusion.training import EpochReport, train

__all__ = [
    'CategoryLayout',
    'Choice',
    'Denoiser',
    'DenoiserSizes',
    'EpochReport',
    'Given',
    'Guide',
    'Limits',
    'LogLinearSchedule',
    'NoiseSettings',
    'NonFiniteLossError',
    'MixedDiffusion',
    'PowerMeanSchedule',
    'Roles',
    'SamplerSettings',
    'TrainingSettings',
    'level_probabilities',
    'sample',
    'train',
]
