"""Straight pieces through many points, be these exact or rounded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from sdv_tabdiff.quantiles import FloatArray

# A bend or a step makes up to so many rows differ from what lies between their neighbours.
MISSES_PER_PIECE = 3

# To find what was rounded, so many rows are looked at closely at a time, so many times.
CLOSE_ROWS, CLOSER_LOOKS = 1000, 5


def misses(x: FloatArray, y: FloatArray, tolerance: Any) -> Any:
    """In how many rows, sorted by ``x``, ``y`` is not on the line between its neighbours."""
    if len(x) < 3:
        return 0

    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    share = share.reshape(-1, *[1] * (y.ndim - 1))
    between = y[:-2] + share * (y[2:] - y[:-2])
    return (np.abs(y[1:-1] - between) > 2 * tolerance).sum(axis=0)


@dataclass(frozen=True)
class Points:
    """Points that a function is to go through.

    Args:
        x: In increasing order.
        y: One for each ``x``.
    """

    x: FloatArray
    y: FloatArray

    def exact(self, tolerance: float, most: int) -> tuple[FloatArray, FloatArray] | None:
        """Knots and heights of at most so many pieces that come near all points, or None."""
        if misses(self.x, self.y, tolerance) > MISSES_PER_PIECE * most:
            return None

        # A knot may miss by as much as any other point.
        knots = self._knots(2 * tolerance, most)
        return None if knots is None else (self.x[knots], self.y[knots])

    def rounded(
        self, tolerance: float, step: float, most: int
    ) -> tuple[FloatArray, FloatArray] | None:
        """Knots and heights of pieces that become the points when rounded to a step, or None.

        They are the best that was found: whether all points are met is to be seen.
        """
        if misses(self.x, self.y, tolerance) > MISSES_PER_PIECE * most:
            return None

        knots = self._knots(2 * tolerance, most)
        if knots is None:
            return None

        at = self._bends(knots, step)
        return at, self._unrounded(at, step)

    def _knots(self, tolerance: float, most: int) -> list[int] | None:
        """Points whose connecting lines come near all the others; None if these are too many.

        From each knot on, the slopes that come near all points so far are an interval. The point
        before the one that leaves none is the next knot.
        """
        x, y = self.x, self.y
        knots = [0]
        low, high = -np.inf, np.inf
        for point in range(1, len(x)):
            start = knots[-1]
            run, rise = x[point] - x[start], y[point] - y[start]
            low, high = max(low, (rise - tolerance) / run), min(high, (rise + tolerance) / run)
            if low > high:
                knots.append(point - 1)
                if len(knots) > most:
                    return None

                run, rise = x[point] - x[point - 1], y[point] - y[point - 1]
                low, high = (rise - tolerance) / run, (rise + tolerance) / run

        return [*knots, len(x) - 1] if len(x) > 1 else None

    def _bends(self, knots: list[int], step: float) -> FloatArray:
        """Where the function bends: rounding hides that for a while, so knots come late.

        It is where the lines through the points before and behind a knot meet.
        """
        at = self.x[knots]
        lines = [self._line(first, last, step) for first, last in zip(knots, knots[1:])]
        for knot, (before, behind) in enumerate(zip(lines, lines[1:]), start=1):
            if before is not None and behind is not None and before[1] != behind[1]:
                meeting = (before[0] - behind[0]) / (behind[1] - before[1])
                if at[knot - 1] < meeting < at[knot + 1]:
                    at[knot] = meeting

        return at

    def _line(self, first: int, last: int, step: float) -> FloatArray | None:
        """Intercept and slope of the line through most points of a piece; None if these are few."""
        margin = (last - first) // 5
        if margin < 2:
            return None

        inner = slice(first + margin, last + 1 - margin)
        ends = self.x[inner][[0, -1]]
        heights = Points(self.x[inner], self.y[inner])._unrounded(ends, step)
        slope = np.diff(heights) / np.diff(ends)
        return np.append(heights[0] - slope * ends[0], slope)

    def _unrounded(self, at: FloatArray, step: float) -> FloatArray:
        """Heights of knots that all points are within half a step of, or else come near to."""
        hats = np.stack([np.interp(self.x, at, unit) for unit in np.eye(len(at))], axis=1)
        heights: FloatArray = np.linalg.lstsq(hats, self.y, rcond=None)[0]
        missed = np.abs(hats @ heights - self.y)
        # What misses by more was not missed by rounding.
        rows = np.flatnonzero(missed < 0.75 * step)
        close: np.ndarray = np.empty(0, dtype=int)
        for _ in range(CLOSER_LOOKS):
            missed = np.abs(hats[rows] @ heights - self.y[rows])
            if (missed < (0.5 - 1e-6) * step).all():
                break

            close = np.union1d(close, rows[np.argsort(-missed)[:CLOSE_ROWS]])
            nearest = _nearest_line(hats[close], self.y[close], step)
            if nearest is None:
                break
            heights = nearest

        return heights


def _nearest_line(hats: FloatArray, y: FloatArray, step: float) -> FloatArray | None:
    """Heights of knots whose largest miss is smallest (Chebyshev's approximation)."""
    # Minimise m where |hats h - (y - middle)| <= m, in steps: solvers like numbers near one.
    middle = y.mean()
    ones = np.ones((len(y), 1))
    wanted = (y - middle) / step
    solution = linprog(
        np.append(np.zeros(hats.shape[1]), 1.0),
        A_ub=np.block([[hats, -ones], [-hats, -ones]]),
        b_ub=np.concatenate([wanted, -wanted]),
        bounds=(None, None),
    )
    return middle + step * solution.x[:-1] if solution.success else None
