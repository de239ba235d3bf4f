"""Gradient-boosted trees, of XGBoost if it is installed."""

from typing import Any

REMEDY = "xgboost is not installed: pip install 'sdv-tabdiff[benchmark]'"


class NotInstalledError(ImportError):
    """A library that is not needed to fit and sample is absent; the message says how to get it."""


def tree_models() -> tuple[Any, Any]:
    """The classifier and the regressor.

    Raises:
        NotInstalledError:
            If XGBoost is not installed.
    """
    try:
        from xgboost import XGBClassifier, XGBRegressor
    except ImportError as error:
        raise NotInstalledError(REMEDY) from error

    return XGBClassifier, XGBRegressor
