"""Charts of cases: a Vega-Lite specification, which altair shows, or the same by matplotlib."""

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from assay._errors import AssayError

Kind = Literal["latency", "accuracy"]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_COLOURS = {"pass": "#3b7dd8", "fail": "#c8372d", "inconclusive": "#b8860b", "skipped": "#808080"}
_EXACT_DB = 160.0
"""Position of an output without any error in a chart: beyond what float32 can show."""


@dataclass(frozen=True)
class PlotRow:
    """A case as a chart shows it; times in nanoseconds, None for what was not measured."""

    label: str
    verdict: str
    latency_ns: float | None = None
    low_ns: float | None = None
    high_ns: float | None = None
    sqnr_db: float | None = None


def draw(rows: Sequence[PlotRow], kind: str) -> Any:
    """The chart, by altair or else by matplotlib.

    Raises:
        UsageError: there is no such kind, or no row has what it shows.
        UnavailableError: neither package is installed.
    """
    shown, unit = _shown_rows(rows, kind)
    if importlib.util.find_spec("altair") is not None:
        import altair

        return altair.Chart.from_dict(chart_spec(rows, kind))
    if importlib.util.find_spec("matplotlib") is not None:
        return _draw_by_matplotlib(shown, kind, unit)
    raise AssayError(
        "plot() needs altair or matplotlib: pip install altair; or write the page with its charts: "
        "report.save_html('report.html')",
        code="unavailable",
    )


def scale_for_ns(longest_ns: float) -> tuple[float, str]:
    """The unit for times up to `longest_ns`, and the nanoseconds in it."""
    return next((one for one in _UNITS if longest_ns >= one[0]), _UNITS[-1])


def chart_spec(rows: Sequence[PlotRow], kind: str) -> dict[str, Any]:
    """The Vega-Lite specification of a chart.

    Raises:
        UsageError: there is no such kind, or no row has what it shows.
    """
    shown, unit = _shown_rows(rows, kind)
    colour = {
        "field": "verdict",
        "scale": {"domain": list(_COLOURS), "range": list(_COLOURS.values())},
    }
    tooltip = [{"field": name} for name in shown[0]]
    point = {
        "mark": {"type": "point", "filled": True, "size": 80},
        "encoding": {"color": colour, "tooltip": tooltip},
    }
    x: dict[str, Any] = {
        "field": "latency",
        "type": "quantitative",
        "title": f"steady latency, {unit}",
    }
    if kind == "latency":
        y: dict[str, Any] = {"field": "label", "type": "nominal", "sort": None, "title": None}
        interval = {
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour},
        }
        layers = [interval, point]
    else:
        x["scale"] = {"type": "log"}
        y = {"field": "sqnr_db", "type": "quantitative", "title": "SQNR of the worst output, dB"}
        text = {
            "mark": {"type": "text", "align": "left", "dx": 8},
            "encoding": {"text": {"field": "label"}},
        }
        layers = [point, text]
    return {
        "$schema": SCHEMA,
        "width": 480,
        "data": {"values": shown},
        "encoding": {"x": x, "y": y},
        "layer": layers,
    }


def _shown_rows(rows: Sequence[PlotRow], kind: str) -> tuple[list[dict[str, Any]], str]:
    """The values of the rows that have what the kind shows, and the unit of their times."""
    if kind not in get_args(Kind):
        known = ", ".join(get_args(Kind))
        raise AssayError(f"no chart '{kind}'; there are: {known}", code="invalid_argument")
    wanted = [row for row in rows if row.latency_ns is not None]
    if kind == "accuracy":
        wanted = [row for row in wanted if row.sqnr_db is not None and not math.isnan(row.sqnr_db)]
    if not wanted:
        what = "a steady latency" if kind == "latency" else "both a steady latency and an SQNR"
        hint = "" if kind == "latency" else "; assay.run measures and evaluates"
        raise AssayError(f"no case has {what}{hint}", code="invalid_argument")
    longest = max(row.latency_ns or 0 for row in wanted)
    scale, unit = scale_for_ns(longest)
    return [_values(row, kind, scale) for row in wanted], unit


def _values(row: PlotRow, kind: str, scale: float) -> dict[str, Any]:
    latency = row.latency_ns or 0.0
    values: dict[str, Any] = {
        "label": row.label,
        "verdict": row.verdict,
        "latency": latency / scale,
        "low": (latency if row.low_ns is None else row.low_ns) / scale,
        "high": (latency if row.high_ns is None else row.high_ns) / scale,
    }
    if kind == "accuracy":
        values["sqnr_db"] = max(-_EXACT_DB, min(_EXACT_DB, row.sqnr_db or 0.0))
    return values


def _draw_by_matplotlib(shown: Sequence[dict[str, Any]], kind: str, unit: str) -> Any:
    import matplotlib.pyplot as plt

    size = (7, 1.2 + 0.4 * len(shown) if kind == "latency" else 4.5)
    figure, axes = plt.subplots(figsize=size)
    plt.close(figure)  # or a notebook would show it twice
    colours = [_COLOURS.get(one["verdict"], "black") for one in shown]
    latency = [one["latency"] for one in shown]
    axes.set_xlabel(f"steady latency, {unit}")
    if kind == "latency":
        places = list(range(len(shown)))
        axes.hlines(places, [o["low"] for o in shown], [o["high"] for o in shown], colors=colours)
        axes.scatter(latency, places, c=colours)
        axes.set_yticks(places, [one["label"] for one in shown])
        axes.invert_yaxis()
    else:
        errors = [one["sqnr_db"] for one in shown]
        axes.scatter(latency, errors, c=colours)
        axes.set_xscale("log")
        axes.set_ylabel("SQNR of the worst output, dB")
        for x, y, one in zip(latency, errors, shown, strict=True):
            axes.annotate(one["label"], (x, y), xytext=(6, 3), textcoords="offset points")
    figure.tight_layout()
    return figure
