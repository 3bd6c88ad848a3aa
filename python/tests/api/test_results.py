"""Results in notebooks: tables and charts."""

import html.parser
import importlib.util
import math
from pathlib import Path

import pytest

from assay import AssayError, Estimate, UnavailableError, UsageError, _plot
from assay._fields import read_fields
from assay._markdown import html_from_markdown

GOLDEN = Path(__file__).parents[3] / "tests" / "golden" / "report"
ROWS = [
    _plot.PlotRow("net a", "pass", 2e6, 1.9e6, 2.2e6, sqnr_db=30.0),
    _plot.PlotRow("net b", "fail", 4e6, sqnr_db=math.inf),
    _plot.PlotRow("net c", "skipped"),
]


class Tags(html.parser.HTMLParser):
    """Checks that tags close in order, and collects them and the text."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def tags_of(text):
    parser = Tags()
    parser.feed(text)
    assert parser.open == []
    return parser


@pytest.mark.parametrize("name", ["sample", "comparison", "conformance", "empty"])
def test_reports_become_well_formed_tables(name):
    tags = tags_of(html_from_markdown((GOLDEN / f"{name}.md").read_text()))
    assert ("table" in tags.seen) == (name != "empty")
    assert "\\" not in tags.text
    assert "**" not in tags.text


def test_hostile_names_stay_text():
    tags = tags_of(html_from_markdown((GOLDEN / "sample.md").read_text()))
    assert not {"script", "img", "a"} & set(tags.seen)
    assert "<script>alert(1)</script>" in tags.text


def test_only_the_first_table_is_unfolded():
    text = html_from_markdown((GOLDEN / "sample.md").read_text())
    assert text.index("<table") < text.index("<details>") < text.index("Findings")
    assert text.count("<details>") == 1


def test_a_block_of_text_keeps_its_columns():
    assert "<pre" in html_from_markdown("```text\na  <b>\n```\n")
    assert "a  &lt;b&gt;" in html_from_markdown("```text\na  <b>\n```\n")


def test_latency_is_drawn_in_one_unit_with_intervals():
    spec = _plot.chart_spec(ROWS, "latency")
    first, second = spec["data"]["values"]
    assert (first["low"], first["latency"], first["high"]) == (1.9, 2.0, 2.2)
    assert (second["low"], second["high"]) == (4.0, 4.0)
    assert "ms" in spec["encoding"]["x"]["title"]


def test_accuracy_is_drawn_against_latency():
    spec = _plot.chart_spec(ROWS, "accuracy")
    assert [one["label"] for one in spec["data"]["values"]] == ["net a", "net b"]
    assert [one["sqnr_db"] for one in spec["data"]["values"]] == [30.0, 160.0]
    assert spec["encoding"]["x"]["scale"] == {"type": "log"}


@pytest.mark.parametrize("kind", ["latency", "accuracy"])
def test_charts_are_valid_vega_lite(kind):
    vl_convert = pytest.importorskip("vl_convert")
    drawn = vl_convert.vegalite_to_svg(_plot.chart_spec(ROWS, kind))
    assert "net a" in drawn
    assert "steady latency, ms" in drawn


def test_a_chart_of_nothing_says_what_is_missing():
    with pytest.raises(UsageError, match="an SQNR; assay"):
        _plot.draw([_plot.PlotRow("a", "pass", 1.0)], "accuracy")
    with pytest.raises(UsageError, match="there are: latency, accuracy"):
        _plot.draw(ROWS, "latencies")


def test_a_chart_without_a_drawing_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match="pip install altair"):
        _plot.draw(ROWS, "latency")


@pytest.mark.parametrize("kind", ["latency", "accuracy"])
def test_matplotlib_draws_each_case(kind):
    pytest.importorskip("matplotlib")
    figure = _plot._draw_by_matplotlib(*_plot._shown_rows(ROWS, kind)[:1], kind, "ms")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "steady latency, ms"


def test_errors_are_of_the_family_of_their_code():
    assert isinstance(AssayError("a", code="not_found"), UsageError)
    assert isinstance(AssayError("a", code="crashed"), UnavailableError)
    assert AssayError("a", code="timeout").exit_code == 124
    assert AssayError("a", code="not_found", exit_code=5).exit_code == 5


def test_an_estimate_without_an_interval_has_no_confidence():
    alone = {"value": 3.0, "low": None, "high": None, "confidence": 0.0, "count": 1}
    assert read_fields(Estimate, alone).confidence is None
    pairs = {**alone, "low": 2.5, "high": 3.5, "confidence": 0.75}
    assert read_fields(Estimate, pairs).confidence == 0.75
