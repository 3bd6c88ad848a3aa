"""Reports (assay/report/1) as Python values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay._command import EXIT_OK, error_from, run_assay
from assay._errors import AssayError

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "assay/report/1"
_SPECIAL = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


@dataclass(frozen=True)
class Estimate:
    """A number with its interval and the count of launches or samples behind it.

    `low` and `high` are None without an interval; `confidence` is the interval's coverage, 0..1.
    """

    value: float
    low: float | None = None
    high: float | None = None
    confidence: float = 0.0
    count: int = 0


@dataclass(frozen=True)
class AccuracyTable:
    """Errors against one kind of reference: `outputs` by name, then by metric.

    `bounds`, likewise, has the limits that decided.
    """

    against: str
    accuracy: str
    reason: str
    outputs: Mapping[str, Mapping[str, float]]
    controls: tuple[str, ...] = ()
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


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
    """One cell of a run: what it is, how it ended, what was measured.

    `document` is the whole case as the report has it: launches, memory, profile, manifest, …
    """

    label: str
    case_key: str
    model: str
    recipe: str
    engine: str
    options: str
    shapes: str
    outcome: str
    stage: str
    reason_code: str
    text: str
    accuracy: str
    timing: str
    delegation: str
    verdict: str
    reproduce: str
    metrics: Mapping[str, Estimate]
    accuracy_tables: tuple[AccuracyTable, ...]
    gates: tuple[GateResult, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    document: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Report:
    """What a run found. `exit_code` is that of the `assay` program: 1 means findings."""

    run_id: str
    cases: tuple[Case, ...]
    exit_code: int
    baseline: str
    document: Mapping[str, Any] = field(repr=False, compare=False)
    store: str | None = field(default=None, repr=False, compare=False)

    @property
    def case(self) -> Case:
        """The only case.

        Raises:
            AssayError: there are none or several.
        """
        if len(self.cases) != 1:
            labels = ", ".join(case.label for case in self.cases) or "none"
            raise AssayError(
                f"the report has {len(self.cases)} cases, not one: {labels}",
                code="invalid_argument",
            )
        return self.cases[0]

    def to_dataframe(self) -> "pd.DataFrame":
        """One row a case: names, verdicts and, for each metric, value and interval.

        Raises:
            AssayError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise AssayError(
                "to_dataframe needs pandas: pip install pandas", code="unavailable"
            ) from error
        return pd.DataFrame([_row(case) for case in self.cases])

    def save_html(self, path: str | Path) -> Path:
        """Writes the HTML report of this run, one file that needs no network.

        Raises:
            AssayError: the run is no longer in its store, or the file cannot be written.
        """
        return self._save(path, "html")

    def save_json(self, path: str | Path) -> Path:
        """Writes the document that this report was read from."""
        Path(path).write_text(json.dumps(dict(self.document)) + "\n")
        return Path(path)

    def _save(self, path: str | Path, kind: str) -> Path:
        store = [] if self.store is None else ["--store", self.store]
        done = run_assay(["report", self.run_id, "--format", kind, "--out", str(path), *store])
        if done.returncode != EXIT_OK:
            raise error_from(done)
        return Path(path)


def read_report(path: Path, *, exit_code: int = 0, store: str | None = None) -> Report:
    """Reads a JSON report.

    Raises:
        AssayError: it is none, or of a later version.
    """
    try:
        document = json.loads(path.read_text())
    except ValueError as error:
        raise AssayError(f"{path} is no JSON report: {error}", code="corrupt") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise AssayError(
            f"{path} has schema {schema!r}; this package reads {SCHEMA}: use a package and an "
            "assay of one version",
            code="unsupported",
        )
    return Report(
        run_id=document["run"]["id"],
        cases=tuple(_case_from_json(case) for case in document["cases"]),
        exit_code=exit_code,
        baseline=document["baseline"],
        document=MappingProxyType(document),
        store=store,
    )


_TEXTS = (
    "label",
    "case_key",
    "model",
    "recipe",
    "engine",
    "options",
    "shapes",
    "outcome",
    "stage",
    "reason_code",
    "text",
    "accuracy",
    "timing",
    "delegation",
    "verdict",
    "reproduce",
)


def _case_from_json(document: dict[str, Any]) -> Case:
    metrics = {name: _estimate_from_json(entry) for name, entry in document["metrics"].items()}
    return Case(
        **{name: document[name] for name in _TEXTS},
        metrics=MappingProxyType(metrics),
        accuracy_tables=tuple(_table_from_json(table) for table in document["accuracy_tables"]),
        gates=tuple(
            GateResult(
                gate["metric"],
                gate["bound"],
                gate["is_met"],
                gate["text"],
                gate.get("is_undecided", False),
            )
            for gate in document["gates"]
        ),
        notes=tuple(document["notes"]),
        warnings=tuple(document.get("warnings", ())),
        document=MappingProxyType(document),
    )


def _estimate_from_json(entry: dict[str, Any]) -> Estimate:
    return Estimate(
        _value_of(entry), entry.get("low"), entry.get("high"), entry["confidence"], entry["count"]
    )


def _table_from_json(table: dict[str, Any]) -> AccuracyTable:
    outputs = {
        output["output"]: MappingProxyType(
            {name: _value_of(metric) for name, metric in output["metrics"].items()}
        )
        for output in table["outputs"]
    }
    return AccuracyTable(
        table["against"],
        table["accuracy"],
        table["reason"],
        MappingProxyType(outputs),
        tuple(table["controls"]),
        MappingProxyType(
            {output["output"]: output.get("bounds", {}) for output in table["outputs"]}
        ),
    )


def _value_of(entry: dict[str, Any]) -> float:
    """The number; NaN and infinities travel as a name, for JSON has none of them."""
    return _SPECIAL.get(entry.get("special", ""), float(entry["value"]))


def _row(case: Case) -> dict[str, Any]:
    names = ("label", "model", "recipe", "engine", "options", "shapes")
    verdicts = ("outcome", "accuracy", "timing", "delegation", "verdict")
    row: dict[str, Any] = {name: getattr(case, name) for name in (*names, *verdicts)}
    for name, estimate in case.metrics.items():
        row[name] = estimate.value
        if estimate.low is not None and estimate.high is not None:
            row |= {f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return row
