"""How good synthetic rows are: the measures of the literature, one function each.

``evaluate`` computes them all. Shape, trend and the logistic two-sample score are those of
SDMetrics.
"""

from sdv_tabdiff.evaluation.detection import boosted_detection, logistic_detection
from sdv_tabdiff.evaluation.efficiency import ml_efficiency
from sdv_tabdiff.evaluation.imputation import imputation_scores
from sdv_tabdiff.evaluation.privacy import dcr_share
from sdv_tabdiff.evaluation.similarity import quality, shape_error, trend_error
from sdv_tabdiff.evaluation.summary import MEASURES, evaluate
from sdv_tabdiff.evaluation.support import alpha_precision, beta_recall
from sdv_tabdiff.evaluation.trees import NotInstalledError

__all__ = [
    'MEASURES',
    'NotInstalledError',
    'alpha_precision',
    'beta_recall',
    'boosted_detection',
    'dcr_share',
    'evaluate',
    'imputation_scores',
    'logistic_detection',
    'ml_efficiency',
    'quality',
    'shape_error',
    'trend_error',
]
