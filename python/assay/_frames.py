"""Data frames: cases by their CSV report, points of series, and Parquet files of either."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay._errors import AssayError

if TYPE_CHECKING:
    import pandas as pd

TEXT_COLUMNS = (
    *("run", "case_key", "subject", "environment", "device"),
    *("model", "recipe", "engine", "options", "shapes"),
    *("verdict", "outcome", "stage", "reason_code", "accuracy", "timing", "delegation"),
    *("accuracy_bounds", "text", "notes", "reproduce"),
)
"""Columns of the CSV report that are texts. All others are numbers, their unit in the name."""

COUNT_COLUMNS = ("steady_launches",)

UNITS = {
    "_ns": "ns",
    "_bytes": "bytes",
    "_ratio": "ratio",
    "_db": "dB",
    "_j": "J",
    "_w": "W",
    "_per_s": "1/s",
}
"""Ends of the names of columns, and the units that they name."""


def pandas_module(what: str) -> Any:
    """The module pandas; `what` needs it.

    Raises:
        UnavailableError: it is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise AssayError(f"{what} needs pandas: pip install pandas", code="unavailable") from error
    return pd


def frame_from_csv(text: str) -> pd.DataFrame:
    """The cases of a CSV report, one a row; numbers are float64, what was not measured is NaN.

    Raises:
        UnavailableError: pandas is not installed.
    """
    pd = pandas_module("a frame of cases")
    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    for name in frame.columns:
        if name in TEXT_COLUMNS:
            frame[name] = frame[name].map(_without_apostrophe).astype(str)
        else:
            kind = "Int64" if name in COUNT_COLUMNS else "float64"
            frame[name] = frame[name].map(_number_from_text).astype(kind)
    return frame


def frame_with_runs(cases: Sequence[pd.DataFrame], runs: Sequence[Mapping[str, Any]]) -> Any:
    """The cases of several runs, with what is known of each run in front.

    Args:
        cases: a frame for each run.
        runs: its columns, "started" among them as ISO 8601.

    Raises:
        UnavailableError: pandas is not installed.
    """
    pd = pandas_module("a frame of runs")
    widened = []
    for frame, run in zip(cases, runs, strict=True):
        if len(frame):
            head = pd.DataFrame([run] * len(frame), index=frame.index)
            widened.append(pd.concat([head, frame], axis=1))
    if not widened:
        return pd.DataFrame(columns=["started", *(cases[0].columns if cases else TEXT_COLUMNS)])
    joined = pd.concat(widened, ignore_index=True)
    joined["started"] = times_from_texts(joined["started"])
    return joined


def times_from_texts(texts: Any) -> Any:
    """Times in UTC of a column of ISO 8601; None is NaT."""
    pd = pandas_module("a column of times")
    return pd.to_datetime(texts, utc=True, format="ISO8601").astype("datetime64[ns, UTC]")


def times_from_unix_ns(values: Sequence[int]) -> Any:
    """Times in UTC; 0 is not known, NaT."""
    pd = pandas_module("a column of times")
    return pd.to_datetime([value or None for value in values], utc=True, unit="ns")


def write_parquet(frame: pd.DataFrame, path: str | Path, about: Mapping[str, Any]) -> Path:
    """Writes a frame as a Parquet file; the schema's metadata has `about` as JSON under "assay".

    A column of numbers whose name ends in a unit has it as metadata, too.

    Raises:
        UnavailableError: pyarrow is not installed, or the file cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise AssayError(
            "to_parquet needs pyarrow: pip install pyarrow", code="unavailable"
        ) from error
    table = pa.Table.from_pandas(frame, preserve_index=False)
    fields = [field.with_metadata(_unit_metadata(field.name)) for field in table.schema]
    metadata = {**(table.schema.metadata or {}), b"assay": json.dumps(dict(about)).encode()}
    try:
        pq.write_table(table.cast(pa.schema(fields, metadata=metadata)), path)
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error}", code="unavailable") from error
    return Path(path)


def _unit_metadata(name: str) -> dict[str, str]:
    """The unit that the name ends in: "steady_ns", "program:size [bytes]"."""
    if name.endswith("]") and " [" in name:
        return {"unit": name[name.rindex(" [") + 2 : -1]}
    return next(({"unit": unit} for end, unit in UNITS.items() if name.endswith(end)), {})


def _number_from_text(text: str) -> float:
    """The number; NaN where it was not measured. Infinities are "inf" and "-inf"."""
    return float(text) if text else float("nan")


def _without_apostrophe(text: str) -> str:
    """Undoes what keeps spreadsheets from computing a text that begins like a formula."""
    return text[1:] if len(text) > 1 and text[0] == "'" and text[1] in "=+-@\t" else text
