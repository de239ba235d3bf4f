"""What the default parameters are for a table of a given size and kind."""

import math
from typing import NamedTuple

# Steps that the default gives to a table, at most: more for a larger one, and for one of more
# columns, which has more to learn. A small one would only be learned by heart, its categories
# sooner than its numbers.
STEPS_PER_ROW, STEPS_PER_CELL, MAX_STEPS_PER_ROW = 0.18, 0.003, 0.32
MIN_STEPS, MAX_STEPS = 400, 12_000

# A larger table affords a wider network; in a small one, a wide network finds the rows themselves.
BLOCKS, WIDTH_PER_ROOT_ROW, WIDTH_UNIT = 4, 1.5, 16
MIN_WIDTH, MAX_WIDTH = 48, 256

# A narrower network affords more steps in the same time, which fall with its width by this power.
# But it is given to smaller tables, for which so many steps a row are enough.
STEPS_BY_WIDTH, ENOUGH_STEPS_PER_ROW = -0.75, 0.27

# A table of fewer rows is trained with smaller steps, down to a point. How far depends on what it
# holds: categories of few rows are soon learned by heart, while numbers that hang together closely
# would hardly be learned at all.
LEARNING_RATE, ROWS_FOR_LARGE_STEPS = 4e-3, 10_000
MIN_LEARNING_RATE = 1.25e-3

# Rows are learned by heart even so; dropout makes that harder, and a large table needs none of it.
# A table of numbers counts as one that is so many times as large, and gets half as much at most.
ROWS_WITHOUT_DROPOUT, DROPOUT_PER_DECADE, MAX_DROPOUT = 150_000, 0.2, 0.5
ROWS_FOR_NUMBERS = 15

# Share of what is learned that must hold for held-out rows. Strictest for tables of a medium size:
# a few held-out rows are no ground to be strict, and very many rows are hardly learned by heart.
# The demand falls back to the lax one at half and at three times the strictest size. Of numbers,
# less holds to the last digit, and it is less of a memory: a table of numbers is asked for less.
LAX_TRANSFER, STRICT_TRANSFER, LESS_FOR_NUMBERS = 0.4, 0.85, 0.15
STRICTEST_ROWS, TIMES_BELOW, TIMES_ABOVE = 16_000, 2.0, 3.0


class TableSize(NamedTuple):
    """What the defaults depend on.

    Attributes:
        rows: Number of rows.
        number_share: Share of the features that are continuous numbers.
        columns: Number of columns.
    """

    rows: int
    number_share: float = 0.0
    columns: int = 1


def default_epochs(size: TableSize, batch_size: int) -> int:
    """Largest number of passes over a table."""
    per_row = min(STEPS_PER_ROW + STEPS_PER_CELL * size.columns, MAX_STEPS_PER_ROW)
    affordable = per_row * (default_trunk(size)[0] / MAX_WIDTH) ** STEPS_BY_WIDTH
    per_row = max(per_row, min(affordable, ENOUGH_STEPS_PER_ROW))
    steps = max(per_row * size.rows, MIN_STEPS * (1 + size.number_share))
    steps = min(steps, MAX_STEPS)
    return math.ceil(steps * batch_size / max(size.rows, batch_size))


def default_learning_rate(size: TableSize) -> float:
    """Peak learning rate."""
    rate = LEARNING_RATE * min(1.0, math.sqrt(size.rows / ROWS_FOR_LARGE_STEPS))
    lowest = MIN_LEARNING_RATE + size.number_share * (LEARNING_RATE - MIN_LEARNING_RATE)
    return max(rate, lowest)


def default_trunk(size: TableSize) -> tuple[int, ...]:
    """Widths of the residual blocks."""
    width = WIDTH_UNIT * round(WIDTH_PER_ROOT_ROW * math.sqrt(size.rows) / WIDTH_UNIT)
    return (min(max(width, MIN_WIDTH), MAX_WIDTH),) * BLOCKS


def default_dropout(size: TableSize) -> float:
    """Share of the units that a training step leaves out."""
    rows = max(size.rows, 1) * ROWS_FOR_NUMBERS**size.number_share
    share = DROPOUT_PER_DECADE * math.log10(ROWS_WITHOUT_DROPOUT / rows)
    return min(max(share, 0.0), MAX_DROPOUT * (1 - size.number_share / 2))


def default_min_transfer(size: TableSize) -> float:
    """Share of what is learned about the rows trained on that must hold for held-out ones."""
    ratio = max(size.rows, 1) / STRICTEST_ROWS
    distance = abs(math.log(ratio)) / math.log(TIMES_ABOVE if ratio > 1 else TIMES_BELOW)
    strict = STRICT_TRANSFER - LESS_FOR_NUMBERS * size.number_share
    return strict - min(distance, 1.0) * (strict - LAX_TRANSFER)
