"""Charts of many runs and of series over commits, from frames that a reader may have filtered."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from assay._errors import AssayError
from assay._plot import SCHEMA, scale_for_ns

Row = dict[str, Any]


def plot_runs(runs: Any, metric: str = "steady_ns") -> Any:
    """A chart of one metric of cases over the times of their runs.

    Args:
        runs: what assay.runs returns, or a frame of its cases_to_pandas(), filtered at will.
        metric: a column of the frame, "steady_ns", "peak_rss_bytes", "float32_sqnr_db", …

    Returns:
        An altair.Chart or a matplotlib.figure.Figure, whichever package is installed.

    Raises:
        UsageError: the frame has no such column, or no case has a value in it.
        UnavailableError: pandas, or both of altair and matplotlib, are not installed.
    """
    frame = runs if hasattr(runs, "columns") else runs.cases_to_pandas()
    if metric not in frame.columns:
        raise AssayError(
            f"no column '{metric}'; numbers of cases: {', '.join(_number_columns(frame))}",
            code="invalid_argument",
        )
    rows = rows_of_runs(frame.to_dict("records"), metric)
    unit = rows[0].pop("unit") if rows else ""
    title = _title(metric, unit)
    return _show(rows, ("time", "temporal", "run"), title, f"no case has a {metric}")


def plot_history(history: Any, series: str | None = None, metric: str | None = None) -> Any:
    """A chart of values over commits: points, levels as lines, steps as rules.

    Args:
        history: what assay.history returns, or a frame of its to_pandas(), filtered at will.
        series: part of the name of a series; None: all.
        metric: a metric; None: that of the first point. Metrics of several units share no axis.

    Returns:
        An altair.Chart or a matplotlib.figure.Figure, whichever package is installed.

    Raises:
        UsageError: no point is left.
        UnavailableError: pandas, or both of altair and matplotlib, are not installed.
    """
    frame = history if hasattr(history, "columns") else history.to_pandas()
    rows = rows_of_history(frame.to_dict("records"), series or "", metric)
    unit = rows[0].pop("unit") if rows else ""
    title = _title(rows[0]["metric"], unit) if rows else ""
    return _show(rows, ("position", "quantitative", "commit"), title, "no point is left to draw")


def rows_of_runs(records: Sequence[Row], metric: str) -> list[Row]:
    """Rows of a chart of runs: time, value in one unit, name of the case."""
    known = [one for one in records if _is_number(one[metric])]
    scale, unit = 1.0, ""
    if metric.endswith("_ns") and known:
        scale, unit = scale_for_ns(max(one[metric] for one in known))
    low, high = (
        (metric.replace("_ns", f"_{end}_ns") if metric.endswith("_ns") else f"{metric}_{end}")
        for end in ("low", "high")
    )
    rows: list[Row] = []
    names = _names_of_series(known)
    for one, name in zip(known, names, strict=True):
        row = {
            "unit": unit,
            "name": name,
            "time": one["started"].isoformat(),
            "what": one["run"],
            "verdict": one["verdict"],
            "value": one[metric] / scale,
        }
        if _is_number(one.get(low)) and _is_number(one.get(high)):
            row |= {"low": one[low] / scale, "high": one[high] / scale}
        rows.append(row)
    return rows


def _name_of_case(one: Row) -> str:
    parts = (one["model"], one["recipe"], one["shapes"], one["options"], one["device"])
    return " ".join(part for part in parts if part and part != "local")


def _names_of_series(records: Sequence[Row]) -> list[str]:
    """The series of each record: its case, and what tells its engine from others of the case.

    A build that follows another for good goes on with its series, as an upgrade does. Builds that
    one run has, or that come back after another one, are compared: each has a series. So have
    engines of different names in any case.
    """
    cases: dict[str, list[Row]] = {}
    for one in records:
        cases.setdefault(_name_of_case(one), []).append(one)
    compared = {name for name, some in cases.items() if _are_builds_compared(some)}
    several = {name for name, some in cases.items() if len(set(map(_engine_of, some))) > 1}
    names = []
    for one in records:
        name = _name_of_case(one)
        engine = one["engine"] if name in compared else _engine_of(one) if name in several else ""
        names.append(f"{name} {engine}".strip())
    return names


def _engine_of(one: Row) -> str:
    """The engine without its build."""
    return str(one["engine"]).partition("@")[0]


def _are_builds_compared(records: Sequence[Row]) -> bool:
    """True if a run has several builds of an engine, or a build comes back after another one."""
    builds: dict[str, set[str]] = {}
    newest: dict[str, str] = {}
    of_run: dict[tuple[str, str], str] = {}
    for one in sorted(records, key=lambda one: (one["started"], one["run"])):
        engine, build = _engine_of(one), one["engine"]
        is_back = build != newest.get(engine) and build in builds.get(engine, set())
        if is_back or of_run.setdefault((one["run"], engine), build) != build:
            return True
        newest[engine] = build
        builds.setdefault(engine, set()).add(build)
    return False


def rows_of_history(records: Sequence[Row], series: str, metric: str | None) -> list[Row]:
    """Rows of a chart of a history: the points of one metric, values in one unit."""
    wanted = [one for one in records if series in one["series"]]
    metric = metric or (wanted[0]["metric"] if wanted else None)
    wanted = [one for one in wanted if one["metric"] == metric]
    unit = wanted[0]["unit"] if wanted else ""
    scale = 1.0
    if unit == "ns":
        scale, unit = scale_for_ns(max(one["value"] for one in wanted))
    return [
        {
            "unit": unit,
            "name": one["series"],
            "metric": metric,
            "position": one["position"],
            "what": one["commit"],
            "value": one["value"] / scale,
            "level": one["level"] / scale if _is_number(one["level"]) else None,
            "is_step": bool(one["is_step"]),
        }
        for one in wanted
    ]


def series_spec(rows: Sequence[Row], x: tuple[str, str, str], title: str) -> dict[str, Any]:
    """The Vega-Lite specification: points by name over x, with intervals, levels and steps."""
    field, kind, what = x
    color = {"field": "name", "type": "nominal", "title": None}
    across = {"field": field, "type": kind, "title": what if kind == "quantitative" else None}
    y = {"field": "value", "type": "quantitative", "title": title, "scale": {"zero": False}}
    tooltip = [
        {"field": "name", "type": "nominal"},
        {"field": "what", "type": "nominal", "title": what},
        {"field": "value", "type": "quantitative", "title": title},
    ]
    layers: list[dict[str, Any]] = []
    if any(row.get("is_step") for row in rows):
        rule = {"type": "rule", "strokeDash": [4, 4]}
        layers.append(
            {
                "mark": rule,
                "transform": [{"filter": "datum.is_step"}],
                "encoding": {"x": across, "color": color},
            }
        )
    if any("low" in row for row in rows):
        ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
        layers.append({"mark": "rule", "encoding": {"x": across, "color": color, **ends}})
    if any(row.get("level") is not None for row in rows):
        level = {"type": "line", "interpolate": "step"}
        encoding = {"x": across, "color": color, "y": {**y, "field": "level"}}
        layers.append({"mark": level, "encoding": encoding})
    point = {"type": "point", "filled": True, "size": 40}
    encoding = {"x": across, "color": color, "y": y, "tooltip": tooltip}
    layers.append({"mark": point, "encoding": encoding})
    return {
        "$schema": SCHEMA,
        "width": 560,
        "height": 280,
        "data": {"values": list(rows)},
        "layer": layers,
    }


def draw_series(rows: Sequence[Row], x: tuple[str, str, str], title: str) -> Any:
    """Draws the chart as a matplotlib.figure.Figure."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 4))
    plt.close(figure)  # or a notebook would show it twice
    for name in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == name]
        drawn = axes.plot([_place(one, x) for one in own], [one["value"] for one in own], ".")
        colour = drawn[0].get_color()
        drawn[0].set_label(name)
        for one in own:
            if "low" in one:
                axes.vlines(_place(one, x), one["low"], one["high"], colors=colour)
            if one.get("is_step"):
                axes.axvline(_place(one, x), color=colour, linestyle="--")
        levels = [(_place(one, x), one["level"]) for one in own if one.get("level") is not None]
        if levels:
            axes.plot(*zip(*levels, strict=True), color=colour, drawstyle="steps-mid")
    axes.set_xlabel(x[2])
    axes.set_ylabel(title)
    axes.legend()
    figure.autofmt_xdate()
    figure.tight_layout()
    return figure


def _title(metric: str, unit: str) -> str:
    """The axis: the metric without the unit in its name, and the unit of the values."""
    return f"{metric.removesuffix('_ns')}, {unit}" if unit else metric


def _place(row: Row, x: tuple[str, str, str]) -> Any:
    return datetime.fromisoformat(row[x[0]]) if x[1] == "temporal" else row[x[0]]


def _show(rows: Sequence[Row], x: tuple[str, str, str], title: str, nothing: str) -> Any:
    if not rows:
        raise AssayError(nothing, code="invalid_argument")
    for row in rows:
        row.pop("unit", None)
    if importlib.util.find_spec("altair") is not None:
        import altair

        return altair.Chart.from_dict(series_spec(rows, x, title))
    if importlib.util.find_spec("matplotlib") is not None:
        return draw_series(rows, x, title)
    raise AssayError("a chart needs altair or matplotlib: pip install altair", code="unavailable")


def _number_columns(frame: Any) -> list[str]:
    return [str(name) for name in frame.select_dtypes("number").columns]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not math.isnan(value)
