"""Lists of stored runs (assay/runs/1) as Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay._frames import frame_with_runs, pandas_module, times_from_texts
from assay._literals import RunState
from assay._plot_series import plot_runs
from assay._report import frame_of_cases
from assay._result import Result, empty

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RunEntry:
    """A stored run. `started` and `finished` are ISO 8601 in UTC; None: it did not finish.

    `verb`: the command that made it. `verdicts`: how many
    cases ended with each. `bytes`: what it takes in the store.
    """

    id: str
    name: str
    purpose: str
    verb: str
    state: RunState
    started: str
    finished: str | None
    models: tuple[str, ...]
    recipes: tuple[str, ...]
    cases: int
    launches: int
    bytes: int
    argv: tuple[str, ...] = ()
    verdicts: Mapping[str, int] = field(default_factory=empty)
    labels: Mapping[str, str] = field(default_factory=empty)

    @property
    def run_id(self) -> str:
        """The id."""
        return self.id


@dataclass(frozen=True, kw_only=True, repr=False)
class Runs(Result):
    """The newest runs of a store, newest first."""

    runs: tuple[RunEntry, ...] = ()

    @property
    def rows(self) -> Sequence[RunEntry]:
        """The runs."""
        return self.runs

    def to_pandas(self) -> pd.DataFrame:
        """A pandas.DataFrame with one row for each run; times in UTC, labels as "label_KEY".

        Raises:
            UnavailableError: pandas is not installed.
        """
        pd = pandas_module("to_pandas")
        frame = pd.DataFrame([self._row(run) for run in self.runs])
        for name in ("started", "finished"):
            if name in frame:
                frame[name] = times_from_texts(frame[name])
        return frame

    def cases_to_pandas(self) -> pd.DataFrame:
        """A pandas.DataFrame with one row for each case of each run, newest run first.

        In front are the run's "started" (UTC), "purpose", "run_name" and labels ("label_KEY"); the
        rest is Report.to_pandas(). Runs without cases, such as those of `assay conform`, have no
        row. Each run takes one call of `assay report`.

        Raises:
            AssayError: a run is no longer in the store.
            UnavailableError: pandas is not installed.
        """
        measured = [run for run in self.runs if run.purpose != "conform"]
        frames = [frame_of_cases(run.id, self.store) for run in measured]
        return frame_with_runs(frames, [_columns_of_run(run) for run in measured])

    def plot(self, metric: str = "steady_ns") -> Any:
        """A chart of one metric of the cases over time; see assay.plot_runs."""
        return plot_runs(self, metric)

    def _row(self, row: Any) -> dict[str, Any]:
        columns = super()._row(row)
        return {**columns, **_label_columns(row)}


def _columns_of_run(run: RunEntry) -> dict[str, Any]:
    known = {"started": run.started, "purpose": run.purpose, "run_name": run.name}
    return {**known, **_label_columns(run)}


def _label_columns(run: RunEntry) -> dict[str, str]:
    return {f"label_{key}": value for key, value in run.labels.items()}
