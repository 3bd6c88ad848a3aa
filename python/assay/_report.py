"""Reports of cases (assay/report/1) as Python values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay._command import EXITS_WITH_ANSWER, error_from, run_assay
from assay._errors import AssayError
from assay._fields import HasInterval, number_from_json, read_fields
from assay._frames import frame_from_csv, times_from_unix_ns
from assay._literals import Accuracy, Delegation, Outcome, Stage, Timing, Verdict
from assay._plot import Kind, PlotRow, draw
from assay._result import Result, empty, write_text

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "assay/report/1"


@dataclass(frozen=True)
class Estimate(HasInterval):
    """A number with its interval and the count of launches or samples behind it.

    `low`, `high` and `confidence`, the interval's coverage, 0..1, are None without an interval.
    `unit` is that of a metric that a program defines ("program:NAME"); all others end in theirs.
    """

    value: float
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    count: int = 0
    unit: str = ""


@dataclass(frozen=True)
class AccuracyTable:
    """Errors against one kind of reference: `outputs` by name, then by metric.

    `bounds`, likewise, has the limits that decided. `differing_elements`: how many elements of the
    outputs were not the same in each execution on the same inputs; 0 if the outputs repeat.
    """

    against: str
    accuracy: Accuracy
    reason: str
    outputs: Mapping[str, Mapping[str, float]]
    controls: tuple[str, ...] = ()
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    differing_elements: int = 0


@dataclass(frozen=True)
class Noise:
    """Error energy by that of the reference; 0.01 is an SQNR of 20 dB. None: not compared.

    `quantization`: quantized graph against float network. `backend`: engine against quantized
    graph. `total`: engine against float network.
    """

    quantization: float | None = None
    backend: float | None = None
    total: float | None = None


@dataclass(frozen=True)
class LayerOrigin:
    """The layer of a model: its node in the exported graph, and the module that it is of."""

    name: str
    module: str
    operator: str


@dataclass(frozen=True)
class LayerNoise:
    """The error of one layer's result.

    `noise`: of the result. `added`: what exceeds the noisiest of its inputs. `alone`: with exact
    inputs.
    """

    origin: LayerOrigin
    noise: Noise
    added: Noise
    alone: Noise


@dataclass(frozen=True)
class Attribution:
    """The layers that an error comes from; `whole` is that of the program's own outputs."""

    whole: Noise
    layers: tuple[LayerNoise, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GateResult:
    """A required bound and whether it was met; undecided where what was measured cannot tell."""

    metric: str
    bound: str
    is_met: bool
    text: str
    is_undecided: bool = False


@dataclass(frozen=True)
class Case:
    """One case of a run: what it is, how it ended, what was measured.

    `metrics` are in the unit that ends their names (steady_ns, peak_rss_bytes, delegated_ratio).
    `document` is the whole case as the report has it: launches, memory, profile, manifest, …
    """

    label: str
    case_key: str
    model: str
    recipe: str
    engine: str
    options: str
    shapes: str
    outcome: Outcome
    stage: Stage
    reason_code: str
    text: str
    accuracy: Accuracy
    timing: Timing
    delegation: Delegation
    verdict: Verdict
    reproduce: str
    metrics: Mapping[str, Estimate]
    accuracy_tables: tuple[AccuracyTable, ...]
    gates: tuple[GateResult, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    attribution: Attribution | None = None
    document: Mapping[str, Any] = field(default_factory=empty, repr=False, compare=False)

    @property
    def sqnr_db(self) -> float | None:
        """The SQNR in dB of the worst output against the first reference; None: not evaluated."""
        for table in self.accuracy_tables:
            found = [one["sqnr_db"] for one in table.outputs.values() if "sqnr_db" in one]
            if found:
                return min(found)
        return None


@dataclass(frozen=True, kw_only=True, repr=False)
class Report(Result):
    """The cases of a run: what assay.bench, evaluate, run, attribute and report return."""

    run_id: str
    cases: tuple[Case, ...] = ()
    baseline: str = ""

    @property
    def rows(self) -> Sequence[Case]:
        """The cases."""
        return self.cases

    @property
    def case(self) -> Case:
        """The only case.

        Raises:
            UsageError: there are none or several.
        """
        if len(self.cases) != 1:
            labels = ", ".join(case.label for case in self.cases) or "none"
            raise AssayError(
                f"the report has {len(self.cases)} cases, not one: {labels}",
                code="invalid_argument",
            )
        return self.cases[0]

    def plot(self, kind: Kind = "latency") -> Any:
        """A chart of the cases, by altair or by matplotlib, whichever is installed.

        Args:
            kind: "latency": the steady latency of each case with its interval; "accuracy": latency
                against the SQNR of the worst output.

        Returns:
            An altair.Chart or a matplotlib.figure.Figure; a notebook shows either.

        Raises:
            UsageError: there is no such kind, or no case has what it shows.
            UnavailableError: neither package is installed.
        """
        return draw([_plot_row(case) for case in self.cases], kind)

    def save_html(self, path: str | Path) -> Path:
        """Writes the HTML report of this run, one file that needs no network.

        Raises:
            AssayError: the run is no longer in its store, or the file cannot be written.
        """
        return self._save(path, "html")

    def save_json(self, path: str | Path) -> Path:
        """Writes the document that this report was read from."""
        return write_text(path, json.dumps(dict(self.document)) + "\n")

    def _save(self, path: str | Path, kind: str) -> Path:
        store = [] if self.store is None else ["--store", self.store]
        done = run_assay(["report", self.run_id, "--format", kind, "--out", str(path), *store])
        if done.returncode not in EXITS_WITH_ANSWER:
            raise error_from(done)
        return Path(path)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas.DataFrame with one row for each case: the CSV report, with types.

        Texts are str, numbers float64 with their unit in the name, what was not measured NaN;
        "started" is the time of the run in UTC.

        Raises:
            AssayError: the run is no longer in its store.
            UnavailableError: pandas is not installed.
        """
        started = self.document["run"]["started_unix_ns"]
        frame = frame_of_cases(self.run_id, self.store)
        frame.insert(0, "started", times_from_unix_ns([started] * len(frame)))
        return frame


def frame_of_cases(run_id: str, store: str | None) -> pd.DataFrame:
    """The cases of a stored run, as its CSV report has them.

    Raises:
        AssayError: there is no such run.
        UnavailableError: pandas is not installed.
    """
    where = [] if store is None else ["--store", store]
    done = run_assay(["report", run_id, "--format", "csv", *where])
    if done.returncode not in EXITS_WITH_ANSWER:
        raise error_from(done)
    return frame_from_csv(done.stdout)


def report_from_json(source: Mapping[str, Any], /, **given: Any) -> Report:
    """The report of a document of schema assay/report/1; `given`: further fields."""
    return Report(
        run_id=source["run"]["id"],
        cases=tuple(_case_from_json(case) for case in source["cases"]),
        baseline=source["baseline"],
        **given,
    )


def _case_from_json(case: Mapping[str, Any]) -> Case:
    tables = tuple(_table_from_json(table) for table in case["accuracy_tables"])
    metrics = {name: _estimate_from_json(entry) for name, entry in case["metrics"].items()}
    return read_fields(
        Case,
        case,
        accuracy_tables=tables,
        metrics=MappingProxyType(metrics),
        document=MappingProxyType(dict(case)),
    )


def _estimate_from_json(entry: Mapping[str, Any]) -> Estimate:
    return read_fields(Estimate, entry, value=number_from_json(entry))


def _table_from_json(table: Mapping[str, Any]) -> AccuracyTable:
    outputs = {
        output["output"]: MappingProxyType(
            {name: number_from_json(metric) for name, metric in output["metrics"].items()}
        )
        for output in table["outputs"]
    }
    bounds = {output["output"]: output.get("bounds", {}) for output in table["outputs"]}
    return read_fields(
        AccuracyTable,
        table,
        outputs=MappingProxyType(outputs),
        bounds=MappingProxyType(bounds),
    )


def _plot_row(case: Case) -> PlotRow:
    steady = case.metrics.get("steady_ns")
    if steady is None:
        return PlotRow(case.label, case.verdict, sqnr_db=case.sqnr_db)
    return PlotRow(
        case.label, case.verdict, steady.value, steady.low, steady.high, sqnr_db=case.sqnr_db
    )
