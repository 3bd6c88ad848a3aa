"""Series over commits (assay/history/1) as Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay._fields import HasInterval
from assay._frames import pandas_module, times_from_unix_ns
from assay._literals import Better, Direction
from assay._plot_series import plot_history
from assay._result import Result, empty

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class HistoryPoint:
    """A value of a series at one commit, in the unit of the series.

    `position` counts commits from the oldest; `unix_ns` is the time of the commit, 0 if it is
    not known. `change` is against the reference of the series: a ratio less 1 where the series is
    one of ratios, else a difference in its unit.
    """

    series: str
    metric: str
    unit: str
    environment: str
    commit: str
    position: int
    unix_ns: int
    value: float
    change: float


@dataclass(frozen=True)
class HistoryStep(HasInterval):
    """A change that lasts: from `last_before` to `first_after`, most likely made by `commit`.

    `direction`: 1 is worse, -1 better, 0 neither.
    `change`, `low` and `high` are as HistoryPoint.change; None where they are not finite.
    `is_firm`: a second method finds it, too. `is_counted`: chance makes none like it among so many
    series. `is_verified`: fresh pairs of launches showed it.
    """

    commit: str
    position: int
    last_before: str
    first_after: str
    direction: Direction
    is_firm: bool
    is_gradual: bool
    is_counted: bool
    change: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    p_value: float = 1.0
    is_verified: bool = False


@dataclass(frozen=True)
class HistorySegment:
    """A stretch without a step; `value` is its level in the unit of the series."""

    first: str
    last: str
    first_position: int
    last_position: int
    value: float


@dataclass(frozen=True)
class HistorySeries:
    """One metric of one case over commits; `points` holds its columns, oldest first.

    `machine` is set where several were used side by side, a series for each.
    `noise`: the usual spread of a point, as HistoryPoint.change.
    """

    name: str
    metric: str
    unit: str
    better: Better
    is_ratio: bool
    noise: float
    environments: tuple[str, ...]
    steps: tuple[HistoryStep, ...]
    segments: tuple[HistorySegment, ...]
    outliers: tuple[str, ...] = ()
    machine: str = ""
    points: Mapping[str, Any] = field(default_factory=empty, repr=False)

    def columns(self) -> dict[str, list[Any]]:
        """The points as columns of one length, the fields of HistoryPoint."""
        count = len(self.points["commit"])
        names = [self.environments[one] if self.environments else "" for one in self.environment]
        same = {"series": self.name, "metric": self.metric, "unit": self.unit}
        return {
            **{name: [value] * count for name, value in same.items()},
            "environment": names,
            **{
                name: list(self.points[name])
                for name in ("commit", "position", "unix_ns", "value", "change")
            },
        }

    @property
    def environment(self) -> Sequence[int]:
        """The place of each point's machine in `environments`."""
        return self.points["environment"]  # type: ignore[no-any-return]

    def levels(self) -> list[float]:
        """The level of the segment of each point, in the unit of the series; NaN in none."""
        levels = []
        for position in self.points["position"]:
            holds = [one for one in self.segments if one.last_position >= position]
            found = next((one.value for one in holds if one.first_position <= position), None)
            levels.append(float("nan") if found is None else found)
        return levels


@dataclass(frozen=True, kw_only=True, repr=False)
class History(Result):
    """Series over commits with the changes in them: what assay.history returns.

    `notes` tell what of the file is no point.
    """

    source: str
    series: tuple[HistorySeries, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> Sequence[HistoryPoint]:
        """The points of all series."""
        points = []
        for one in self.series:
            columns = one.columns()
            tuples = zip(*columns.values(), strict=True)
            points += [HistoryPoint(**dict(zip(columns, row, strict=True))) for row in tuples]
        return points

    def to_pandas(self) -> pd.DataFrame:
        """A pandas.DataFrame with a row for each point of each series.

        Columns: series, metric, unit, environment, commit, position, time (UTC), value and level
        (both in `unit`), change, is_step and is_outlier.

        Raises:
            UnavailableError: pandas is not installed.
        """
        pd = pandas_module("to_pandas")
        frames = [self._frame(pd, one) for one in self.series]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def plot(self, series: str | None = None, metric: str | None = None) -> Any:
        """A chart of values over commits with levels and steps; see assay.plot_history."""
        return plot_history(self, series=series, metric=metric)

    def _frame(self, pd: Any, one: HistorySeries) -> Any:
        columns: dict[str, Any] = one.columns()
        columns["time"] = times_from_unix_ns(columns.pop("unix_ns"))
        columns["level"] = one.levels()
        for name, commits in (
            ("is_step", {step.commit for step in one.steps}),
            ("is_outlier", set(one.outliers)),
        ):
            columns[name] = [commit in commits for commit in columns["commit"]]
        names = ("series", "metric", "unit", "environment", "commit", "position", "time")
        order = [*names, "value", "level", "change", "is_step", "is_outlier"]
        frame = pd.DataFrame(columns)[order]
        return frame.astype({"value": "float64", "change": "float64", "position": "int64"})
