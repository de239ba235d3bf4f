"""Plotly figures of a fitted synthesizer."""

import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from sdmetrics.visualization import PlotConfig

PALE = '#C5CAD6'


def _styled(figure: go.Figure, title: str) -> go.Figure:
    return figure.update_layout(
        title=title,
        template='plotly_white',
        legend_title_text='',
        plot_bgcolor=PlotConfig.BACKGROUND_COLOR,
        # Panels side by side leave less room than SDMetrics' single plots.
        font={'size': 13},
    )


def loss_plot(losses: pd.DataFrame, title: str) -> go.Figure:
    """Training and validation loss per epoch, in total and by kind of column.

    Args:
        losses (pandas.DataFrame):
            As ``TabDiffSynthesizer.get_loss_values`` returns them.
        title (str):
            Title of the figure.
    """
    titles = ['Total', 'Numerical', 'Categorical']
    figure = make_subplots(rows=1, cols=3, subplot_titles=titles, horizontal_spacing=0.08)
    # One noise level a row makes the training loss jump from epoch to epoch: show its trend.
    smooth = losses.ewm(halflife=max(len(losses) / 50, 0.1)).mean()
    for column, panel in enumerate(('Loss', 'Numerical Loss', 'Categorical Loss'), start=1):
        lines = {
            'Training, each epoch': (losses[panel], PALE, 1),
            'Training': (smooth[panel], PlotConfig.DATACEBO_DARK, 2),
            'Validation': (losses[f'Validation {panel}'], PlotConfig.DATACEBO_GREEN, 2),
        }
        for name, (values, color, width) in lines.items():
            figure.add_trace(
                go.Scatter(
                    x=losses['Epoch'],
                    y=values,
                    name=name,
                    legendgroup=name,
                    showlegend=column == 1,
                    line={'color': color, 'width': width},
                ),
                row=1,
                col=column,
            )

    if losses['Validation Loss'].notna().any():
        kept = losses.loc[losses['Validation Loss'].idxmin(), 'Epoch']
        figure.add_vline(kept, line={'dash': 'dot', 'color': PlotConfig.DATACEBO_DARK, 'width': 1})
        figure.add_annotation(
            text='kept', x=kept, y=1, yref='y domain', xanchor='left', showarrow=False
        )

    figure.update_xaxes(title_text='Epoch')
    figure.update_yaxes(title_text='Loss', col=1)
    figure.update_layout(legend={'orientation': 'h', 'y': -0.2})
    return _styled(figure, title)


def noise_plot(noise: pd.DataFrame, title: str) -> go.Figure:
    """Noise of each column against time.

    Args:
        noise (pandas.DataFrame):
            As ``TabDiff.noise_levels`` returns it.
        title (str):
            Title of the figure.
    """
    panels = [
        ('numerical', 'Numbers: standard deviation of the noise', 'log'),
        ('categorical', 'Categories: chance to be masked', 'linear'),
    ]
    titles = [panel[1] for panel in panels]
    figure = make_subplots(rows=1, cols=2, subplot_titles=titles, horizontal_spacing=0.1)
    for column, (kind, _, scale) in enumerate(panels, start=1):
        colors = px.colors.qualitative.Dark24
        names = noise.loc[noise['Kind'] == kind, 'Column'].unique()
        for index, name in enumerate(names):
            curve = noise[(noise['Kind'] == kind) & (noise['Column'] == name)]
            figure.add_trace(
                go.Scatter(
                    x=curve['Time'],
                    y=curve['Noise'],
                    name=str(name),
                    line={'color': colors[index % len(colors)]},
                    hovertemplate=f'{name}: %{{y:.3g}}<extra></extra>',
                ),
                row=1,
                col=column,
            )

        figure.update_yaxes(type=scale, col=column)

    figure.update_xaxes(title_text='Time')
    return _styled(figure, title)
