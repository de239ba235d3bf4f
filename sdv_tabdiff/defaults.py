"""What the default parameters are for a table of a given size."""

import math

# Steps that the default gives to a table: more for a larger one, but never for its rows alone. A
# small one would only be learned by heart.
STEPS_PER_ROOT_ROW = 32
STEPS_PER_ROW = 0.3
MIN_STEPS, MAX_STEPS = 400, 8_000

# A larger table affords a wider network; in a small one, a wide network finds the rows themselves.
BLOCKS, WIDTH_PER_ROOT_ROW, WIDTH_UNIT = 4, 1.5, 16
MIN_WIDTH, MAX_WIDTH = 32, 256

# A table of fewer rows is trained with smaller steps: with large ones, its held-out loss turns
# before anything fine is learned.
LEARNING_RATE, ROWS_FOR_LARGE_STEPS = 4e-3, 10_000

# With still smaller steps, a very small table would not be learned at all.
MIN_LEARNING_RATE = 1.25e-3

# A small table's rows are learned by heart even so; dropout makes that harder.
ROWS_WITHOUT_DROPOUT, DROPOUT_PER_DECADE, MAX_DROPOUT = 10_000, 0.4, 0.4


def default_epochs(num_rows: int, batch_size: int) -> int:
    """Largest number of passes over a table."""
    steps = min(STEPS_PER_ROOT_ROW * math.sqrt(num_rows), STEPS_PER_ROW * num_rows)
    steps = min(max(steps, MIN_STEPS), MAX_STEPS)
    return math.ceil(steps * batch_size / max(num_rows, batch_size))


def default_learning_rate(num_rows: int) -> float:
    """Peak learning rate."""
    rate = LEARNING_RATE * min(1.0, math.sqrt(num_rows / ROWS_FOR_LARGE_STEPS))
    return max(rate, MIN_LEARNING_RATE)


def default_trunk(num_rows: int) -> tuple[int, ...]:
    """Widths of the residual blocks."""
    width = WIDTH_UNIT * round(WIDTH_PER_ROOT_ROW * math.sqrt(num_rows) / WIDTH_UNIT)
    return (min(max(width, MIN_WIDTH), MAX_WIDTH),) * BLOCKS


def default_dropout(num_rows: int) -> float:
    """Share of the units that a training step leaves out."""
    decades = math.log10(ROWS_WITHOUT_DROPOUT / max(num_rows, 1))
    return min(max(DROPOUT_PER_DECADE * decades, 0.0), MAX_DROPOUT)
