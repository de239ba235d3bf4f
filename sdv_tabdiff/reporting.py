"""What a fitted synthesizer tells about its training and its noise, as tables and as plots."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from sdv.errors import NotFittedError

from sdv_tabdiff import plots
from sdv_tabdiff.conditional import ConditionalSynthesizer
from sdv_tabdiff.model import TabDiff
from sdv_tabdiff.reports import loss_table, noise_table


class ReportingSynthesizer(ConditionalSynthesizer):
    """A synthesizer that shows its losses and its noise schedules."""

    def _fitted_model(self, what: str) -> TabDiff | None:
        """The model; None if the table had nothing to learn."""
        if not self._fitted:
            raise NotFittedError(
                f'{what} are not available yet. Please fit your synthesizer first.'
            )

        return self._model

    def get_loss_values(self) -> pd.DataFrame:
        """Get the losses of each epoch.

        Returns:
            pandas.DataFrame:
                Per epoch the training and the validation loss, in total and split into its
                numerical and its categorical part. The validation loss is missing if no rows are
                held out.

        Raises:
            NotFittedError:
                If the synthesizer has not been fitted.
        """
        model = self._fitted_model('Loss values')
        return model.loss_values if model else loss_table([])

    def get_loss_values_plot(self, title: str = 'TabDiff loss function') -> go.Figure:
        """Plot the losses of each epoch.

        Args:
            title (str):
                Title of the figure.

        Returns:
            plotly.graph_objects.Figure:
                The figure.

        Raises:
            NotFittedError:
                If the synthesizer has not been fitted.
        """
        return plots.loss_plot(self.get_loss_values(), title)

    def get_noise_schedules(self) -> pd.DataFrame:
        """Get the noise schedule of each column.

        Returns:
            pandas.DataFrame:
                For each column that the model sees as a number the exponent ``rho`` of its
                power-mean schedule, for each that it sees as a category the exponent ``k`` of its
                log-linear schedule. A number with states (repeated values, missing ones) has both.

        Raises:
            NotFittedError:
                If the synthesizer has not been fitted.
        """
        noise = self._noise_levels(num_times=2)
        return noise.drop_duplicates(['Column', 'Kind'])[
            ['Column', 'Kind', 'Exponent']
        ].reset_index(drop=True)

    def get_noise_schedules_plot(self, title: str = 'TabDiff noise schedules') -> go.Figure:
        """Plot the noise of each column against time.

        Args:
            title (str):
                Title of the figure.

        Returns:
            plotly.graph_objects.Figure:
                The figure.

        Raises:
            NotFittedError:
                If the synthesizer has not been fitted.
        """
        return plots.noise_plot(self._noise_levels(num_times=101), title)

    def _noise_levels(self, num_times: int) -> pd.DataFrame:
        model = self._fitted_model('Noise schedules')
        times = np.linspace(0, 1, num_times)
        noise = model.noise_levels(times) if model else noise_table(None, None, times)
        return noise.assign(Column=noise['Column'].replace(self._column_names))
