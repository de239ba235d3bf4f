"""The diffusion core: tensors in, tensors out.

Nothing in here knows about pandas, SDV or files, and nothing prints.
"""

from sdv_tabdiff.diffusion.categories import CategoryLayout
from sdv_tabdiff.diffusion.denoiser import Denoiser, DenoiserSizes
from sdv_tabdiff.diffusion.process import MixedDiffusion, NoiseSettings
from sdv_tabdiff.diffusion.sampler import SamplerSettings, sample
from sdv_tabdiff.diffusion.schedules import LogLinearSchedule, PowerMeanSchedule
from sdv_tabdiff.diffusion.training import EpochReport, NonFiniteLossError, TrainingSettings, train

__all__ = [
    'CategoryLayout',
    'Denoiser',
    'DenoiserSizes',
    'EpochReport',
    'LogLinearSchedule',
    'NoiseSettings',
    'NonFiniteLossError',
    'MixedDiffusion',
    'PowerMeanSchedule',
    'SamplerSettings',
    'TrainingSettings',
    'sample',
    'train',
]
