"""Opens the HTML reports of sample runs in headless Chromium: what is drawn, what fits, what works.

    ASSAY_BIN=build/release/bin python -m pytest tests/report/test_page.py

Without Chromium the tests are skipped on a developer's machine and fail where CI is set, so that
nobody takes a page for tested that was never opened. `make test` installs it.
"""

import os
import re
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, find_chromium

BIN = Path(os.environ.get("ASSAY_BIN", "build/release/bin"))
PAGE_SCRIPTS = Path(__file__).resolve().parents[2] / "src" / "assay" / "report" / "html"
OVERFLOW = Path(__file__).with_name("overflow.js").read_text(encoding="utf-8")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BIN / "assay_report_sample").exists(), reason="set ASSAY_BIN"),
]


def chromium_or_end() -> str:
    """Where Chromium is; without it the test is skipped, or fails in CI."""
    program = find_chromium()
    if program is None and os.environ.get("CI"):
        pytest.fail("no Chromium: pages cannot be tested; tools/install_packages.sh installs it")
    if program is None:
        pytest.skip("no Chromium here; make test installs it")
    return program


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    running = Browser(chromium_or_end())
    yield running
    running.close()


def page_of(run: str, env: dict[str, str] | None = None) -> str:
    """The page that the sample's program writes."""
    module = "history" if run == "history" else "report"
    command = [str(BIN / f"assay_{module}_sample"), "html", run]
    result = subprocess.run(command, capture_output=True, check=True, env=env)
    return result.stdout.decode()


def look(browser: Browser, html: str, script: str, **how: Any) -> tuple[Any, list[str]]:
    """The result of `script` in the opened page, and the console's lines."""
    with browser.open(html, **how) as page:
        return page.run(script), page.console()


def functions_of(file: str, *names: str) -> str:
    """The named functions of a page's script, which keeps them to itself."""
    text = (PAGE_SCRIPTS / file).read_text(encoding="utf-8")
    found = []
    for name in names:
        pattern = rf"^(?:function {name}\(.*?^}}|const {name} =.*?;)$"
        match = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        assert match, f"{file} has no {name}"
        found.append(match[0])
    return "\n".join(found) + "\n"


@pytest.mark.parametrize("is_ci", [False, True])
def test_a_missing_browser_fails_in_ci_only(monkeypatch: pytest.MonkeyPatch, is_ci: bool) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("CI", "true" if is_ci else "")
    with pytest.raises(pytest.fail.Exception if is_ci else pytest.skip.Exception):
        chromium_or_end()


READER = """
const names = () => all(".cases tbody tr").map((row) => row.dataset.id);
const left = () => all(".cases tbody tr:not([hidden])").map((row) => row.dataset.id);
const models = () => all("section.model:not([hidden])").length;
const seen = {};

const canvases = all(".canvas");
const marks = "svg .mark-symbol path, svg .mark-rect path";
seen.charts = canvases.map((one) => one.querySelectorAll(marks).length);
seen.profile = all("#case-1 .canvas[data-drawn] svg").length;

seen.parts = all("details.case").map((one) =>
  [...one.querySelectorAll("h4")].map((head) => head.textContent));
seen.layers = all("table")
  .filter((one) => one.caption?.textContent.startsWith("Layers"))
  .map((one) => [...one.querySelectorAll("tbody th")].map((head) => head.textContent));
seen.words = all("pre.words").map((one) => one.textContent);
const memory = all("#case-1 table").filter((one) =>
  one.textContent.includes("Executable and libraries"));
seen.memory = memory.map((one) => [...one.querySelectorAll("tbody tr")].map((row) =>
  [...row.children].map((cell) => cell.textContent)));
seen.leaks = document.getElementById("case-1").textContent.match(/no leak larger[^)]*/g);
seen.left = document.getElementById("case-2").textContent;
seen.markup = all("img, main script, main b").length;

const head = all(".cases thead th").find((one) => one.textContent.startsWith("Steady"));
seen.sorts = [[names(), head.getAttribute("aria-sort")]];
for (let i = 0; i < 3; ++i) {
  head.querySelector("button").click();
  seen.sorts.push([names(), head.getAttribute("aria-sort")]);
}

const search = all("input[type=search]")[0];
const type = (text) => { search.value = text; search.dispatchEvent(new Event("input")); };
type("MOBILENET_V2 int8");
seen.byText = [left(), models(), all(".count")[0].textContent];
type("");
const chip = all(".chip.skipped")[0];
chip.click();
seen.byResult = [left(), chip.getAttribute("aria-pressed")];
chip.click();
seen.back = left().length;
return seen;
"""


@pytest.fixture(scope="module")
def page() -> str:
    return page_of("sample")


@pytest.fixture(scope="module")
def visit(browser: Browser, page: str) -> tuple[Any, list[str]]:
    """Unfolds everything, sorts and filters, as a reader would."""
    return look(browser, page, READER, is_unfolded=True)


def test_draws_every_chart(visit: tuple[Any, list[str]]) -> None:
    charts = visit[0]["charts"]
    assert len(charts) >= 15
    assert all(marks > 0 for marks in charts), charts
    assert visit[0]["profile"] == 1


def test_says_nothing_on_the_console(visit: tuple[Any, list[str]]) -> None:
    assert visit[1] == []


def test_names_causes_and_commands_as_the_text_formats_do(browser: Browser, page: str) -> None:
    script = """
    const cell = (more) => ({ verdict: "inconclusive", outcome: "completed", accuracy: "pass",
      timing: "steady", gates: [], accuracy_tables: [], ...more });
    return [
      causeOf(cell({ gates: [{ is_met: false, is_undecided: true }] })),
      causeOf(cell({ timing: "not_measured" })),
      causeOf(cell({ timing: "unsteady" })),
      causeOf(cell({ timing: "unsteady", verdict: "pass" })),
      causeOf(cell({ timing: "inconclusive", verdict: "pass" })),
      shellCommand(["assay", "bench", "my net.pte", "--option", "a=it's", ""]),
    ];
    """
    functions = functions_of("model.js", "isUnfinished", "causeOf")
    functions += functions_of("format.js", "wordsOf", "shellCommand")
    seen, _ = look(browser, page, functions + script)
    assert seen == [
        "gate undecided",
        "not checked",
        "unsteady",
        "unsteady",
        "",
        "assay bench 'my net.pte' --option 'a=it'\\''s' ''",
    ]


def test_a_history_shows_values_below_zero_and_levels_of_any_names(browser: Browser) -> None:
    """Its levels are drawn where they are, also where all commits have one name."""
    script = """const levels = all(".canvas").map((one) =>
      one.querySelectorAll(".mark-rule.layer_3_marks line"));
    return [
      [domainOf(-5, 5), domainOf(-9, -1), domainOf(0.1, 5), domainOf(4, 5)],
      levels.map((some) => [...some].map((one) => one.getBoundingClientRect().width)),
    ];"""
    script = functions_of("history.js", "domainOf") + script
    html = re.sub(r'\["[0-9a-f]{10}",', '["nightly-20",', page_of("history"))
    (domains, levels), _ = look(browser, html, script, is_unfolded=True)
    assert [len(one) for one in levels][:3] == [2, 2, 2]
    assert all(20 < width < 800 for one in levels for width in one), "each a part of the axis"
    all_signs, negative, near_zero, positive = domains
    assert all_signs[0] < -5
    assert all_signs[1] > 5
    assert negative[0] < -9
    assert -1 < negative[1] < 1
    assert near_zero[0] == 0
    assert 3 < positive[0] < 4


def test_sorts_by_a_column_and_back(visit: tuple[Any, list[str]]) -> None:
    orders = [order for order, _ in visit[0]["sorts"]]
    directions = [direction for _, direction in visit[0]["sorts"]]
    assert directions == ["none", "ascending", "descending", "none"]
    # From 850 ns to 3.19 s, whatever the units; what was not measured is last either way.
    measured = ["case-8", "case-3", "case-2", "case-1", "case-7", "case-0"]
    assert orders[1][:6] == measured
    assert orders[2][:6] == measured[::-1]
    assert set(orders[2][6:]) == {"case-4", "case-5", "case-6", "case-9"}
    assert orders[3] == orders[0]


def test_filters_by_text_and_by_result(visit: tuple[Any, list[str]]) -> None:
    seen = visit[0]
    assert seen["byText"] == [["case-2", "case-3"], 1, "2 of 10 cases"]
    assert seen["byResult"] == [["case-6"], "true"]
    assert seen["back"] == 10


def test_shows_every_case_in_full(visit: tuple[Any, list[str]]) -> None:
    seen = visit[0]
    assert {"Gates", "Accuracy", "Delegation", "Memory", "Profile"} <= set(seen["parts"][1])
    assert "Why" in seen["parts"][4]
    assert all("Reproduce" in parts for parts in seen["parts"])
    assert "Check failed" in seen["words"][0]
    assert "\x1b" not in seen["words"][0]
    assert "has no rule for this operator" in seen["left"]


def test_shows_memory_by_part_with_its_sum(visit: tuple[Any, list[str]]) -> None:
    (rows,) = visit[0]["memory"]
    assert [row[0] for row in rows] == [
        "Executable and libraries",
        "malloc, live",
        "Of live malloc, never touched",
        "Unattributed",
        "Sum: resident set",
    ]
    assert all(len(row) == 6 for row in rows)
    assert rows[0][1] == "9.00 MB"
    assert rows[2][1] == "-200 kB"
    assert visit[0]["leaks"] == ["no leak larger than 0 bytes a load (malloc, 16 cycles"]


def test_shows_where_an_error_arises(visit: tuple[Any, list[str]]) -> None:
    assert visit[0]["layers"] == [["linear", "features.0.2", "features.0.0"]]


def test_takes_no_text_for_markup(visit: tuple[Any, list[str]]) -> None:
    assert visit[0]["markup"] == 0


WIDTHS = (1280, 768, 390)
SAMPLES = ("sample", "wide", "comparison", "conformance", "conformance_wide", "history")


@pytest.mark.parametrize("sample", SAMPLES)
def test_nothing_is_cut_at_any_width(browser: Browser, sample: str) -> None:
    """Profile and attribution have no pages of their own: they stand in the cases of `sample`."""
    # The longest of the answers of a comparison.
    html = page_of(sample).replace('"verdict":"slower"', '"verdict":"equivalent"')
    problems: dict[str, list[str]] = {}
    for width in WIDTHS:
        for is_dark in (False, True):
            seen, console = look(
                browser, html, OVERFLOW, width=width, is_dark=is_dark, is_unfolded=True
            )
            assert seen["elements"] > 100
            assert seen["charts"] > 0 or sample.startswith("conformance")
            assert console == []
            problems[f"{width} {'dark' if is_dark else 'light'}"] = seen["problems"]
    assert {where: what for where, what in problems.items() if what} == {}


def test_a_comparison_is_told_in_the_unit_of_its_metric(browser: Browser) -> None:
    script = """return all("#comparisons th, #comparisons .chart text")
      .map((one) => one.textContent).filter((text) => text.includes("B vs A"));"""
    html = page_of("comparison")
    times, console = look(browser, html, script, is_unfolded=True)
    assert len(times) == 3
    assert all("% time" in text for text in times)
    rate = html.replace("steady_floor_ns", "throughput_per_s")
    without_one = re.sub(r'"a":16\d+\.0', '"a":0.0', rate, count=1)
    assert without_one != rate
    numbers = """[...document.querySelectorAll("#comparisons .role-axis-label text")]
      .map((one) => one.textContent).filter((text) => /\\d$/.test(text)).length"""
    script = f"""const told = (() => {{ {script} }})();
    return {{ told, numbers: {numbers}, note: all("#comparisons figcaption")[0].textContent }};"""
    seen, more = look(browser, without_one, script, is_unfolded=True)
    assert len(seen["told"]) == 3
    assert not any("time" in text for text in seen["told"])
    assert seen["numbers"] > 8, "the pair without a share does not stretch the axis"
    assert "not drawn: 1 pair of which A is 0" in seen["note"]
    assert console + more == []


def test_a_chart_is_marked_as_drawn_when_the_last_of_its_drawings_is(browser: Browser) -> None:
    """Its width changes three times while the first of its new drawings takes long."""
    script = """
    const [canvas] = all(".canvas[data-drawn]");
    const isDrawn = () => canvas.hasAttribute("data-drawn");
    const pause = (ms) => new Promise((then) => setTimeout(then, ms));
    const embed = window.vegaEmbed;
    let drawings = 0;
    window.vegaEmbed = async (...given) => {
      await pause(drawings++ ? 100 : 600);
      return embed(...given);
    };
    const marks = [];
    for (const width of [500, 420, 460]) {
      canvas.style.width = `${width}px`;
      await new Promise((then) => requestAnimationFrame(() => setTimeout(then, 30)));
      marks.push(isDrawn());
    }
    for (let tries = 0; !isDrawn() && tries < 500; ++tries) await pause(10);
    return { marks, drawings, width: canvas.querySelector("svg").getBoundingClientRect().width };
    """
    seen, console = look(browser, page_of("sample"), script, is_unfolded=True)
    assert seen["marks"] == [False, False, False]
    assert seen["drawings"] == 2, "the one in between is not drawn"
    assert abs(seen["width"] - 460) < 20
    assert console == []


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_window_that_changes_its_width_is_drawn_anew(browser: Browser, sample: str) -> None:
    with browser.open(page_of(sample), width=1280, is_unfolded=True) as page:
        page.resize(390, 900)
        page.settle(has_charts=True)
        assert page.run(OVERFLOW)["problems"] == []


CUT = """
const box = document.createElement("div");
box.style.cssText = "width: 80px; white-space: nowrap; %s";
box.innerHTML = "a text that is much longer than its box is wide";
document.getElementById("main").append(box);
"""


@pytest.mark.parametrize(
    "style",
    ["", "overflow: hidden", "overflow: hidden; text-overflow: ellipsis", "overflow-x: auto"],
)
def test_what_is_cut_would_be_found(browser: Browser, style: str) -> None:
    seen, _ = look(browser, page_of("empty"), CUT % style + OVERFLOW)
    assert seen["problems"]


def test_a_scrolling_table_says_so_and_takes_the_keyboard(browser: Browser) -> None:
    script = """return all(".scroll").map((one) => ({
      isWide: one.scrollWidth > one.clientWidth + 1,
      more: one.dataset.more,
      hint: one.parentElement.querySelector(".hint").checkVisibility(),
      tab: one.tabIndex,
    }));"""
    narrow, _ = look(browser, page_of("conformance_wide"), script, width=390, is_unfolded=True)
    wide = [one for one in narrow if one["isWide"]]
    assert wide
    assert len(wide) < len(narrow)
    assert all((one["more"], one["hint"], one["tab"]) == ("right", True, 0) for one in wide)
    assert all(
        (one["more"], one["hint"], one["tab"]) == ("", False, -1)
        for one in narrow
        if not one["isWide"]
    )


BESIDE_THE_PRINT = """
window.seen = { before: all("details").map((one) => one.open) };
addEventListener("beforeprint", () => {
  seen.isOpen = all("details").every((one) => one.open);
  seen.waiting = all(".canvas:not([data-drawn])").length;
  seen.labels = all(".canvas svg text")
    .map((one) => one.textContent)
    .filter((text) => /^[a-z ]+$/.test(text));
  seen.colours = [...new Set(all(".role-axis-title text").map((one) => one.getAttribute("fill")))];
});
"""

AFTER_THE_PRINT = """
const isOpen = all("details").map((one) => one.open);
return { ...seen, after: isOpen, root: document.documentElement.className };
"""


def test_paper_has_every_case_and_every_chart(browser: Browser, tmp_path: Path) -> None:
    """A4, by a reader whose screen is dark; what was folded is folded again afterwards."""
    pypdf = pytest.importorskip("pypdf")
    two_builds = page_of("conformance").replace("executorch@1", "executorch@2", 1)
    printed = {}
    for name, html in (("sample", page_of("sample")), ("conformance", two_builds)):
        with browser.open(html, is_dark=True) as page:
            page.run(BESIDE_THE_PRINT)
            (tmp_path / f"{name}.pdf").write_bytes(page.pdf())
            seen = page.run(AFTER_THE_PRINT)
            assert page.console() == []
        assert not all(seen["before"])
        assert seen["isOpen"]
        assert seen["after"] == seen["before"]
        assert (seen["waiting"], seen["root"]) == (0, "")
        pages = pypdf.PdfReader(tmp_path / f"{name}.pdf").pages
        text = " ".join(one.extract_text() for one in pages)
        printed[name] = " ".join(unicodedata.normalize("NFKC", text).split())  # No ligatures.
        if name == "sample":
            assert len(seen["labels"]) > 20
            assert all(label in printed[name] for label in seen["labels"])
            assert seen["colours"] == ["#5d636e"], "dark ink, as for light pages"
    assert all(printed["sample"].count(part) == 10 for part in ("Identity", "Reproduce"))
    assert "Where the time goes" in printed["sample"]
    assert "recipe, verdict or new_failure" not in printed["conformance"], "no box to fill in"
    for build in ("executorch/portable executorch@1", "executorch/portable executorch@2"):
        assert printed["conformance"].count(build) > 1, "in the table and above its map"


def test_no_table_is_wider_than_the_paper(browser: Browser) -> None:
    script = """
    dispatchEvent(new Event("beforeprint"));
    const tables = all(".scroll > *").filter((one) => one.checkVisibility());
    const room = document.getElementById("main").getBoundingClientRect().right;
    const wider = tables.filter((one) => one.getBoundingClientRect().right > room + 1);
    const hidden = all(".copy, .tools > input, .chips, .tabs, .hint, nav");
    return {
      tables: tables.length,
      wider: wider.map((one) => one.textContent.slice(0, 40)),
      shown: hidden.filter((one) => one.checkVisibility()).length,
      scales: tables.map((one) => Number(one.style.zoom || 1)),
    };"""
    # A sheet between its margins is narrower than a phone that is held across.
    seen, _ = look(browser, page_of("wide"), script, width=700, media="print")
    assert seen["tables"] > 10
    assert (seen["wider"], seen["shown"]) == ([], 0)
    assert all(scale > 0.5 for scale in seen["scales"])


def test_works_by_keyboard(browser: Browser) -> None:
    """Tab reaches the search, the heads of the table, the findings and the cases; Enter works."""
    focus = """const one = document.activeElement;
    return [one.tagName, one.className, one.textContent.slice(0, 60)];"""
    with browser.open(page_of("sample")) as page:
        stops = []
        for _ in range(60):
            page.press("Tab", 9)
            stops.append(page.run(focus))
            if stops[-1][0] == "SUMMARY" and "more" in stops[-1][2]:
                break
        assert stops[0][2] == "Skip to the cases"
        assert "INPUT" in [tag for tag, _, _ in stops]
        assert any(tag == "BUTTON" and text.startswith("Steady") for tag, _, text in stops)
        page.press("Enter", 13, "\r")
        assert page.run('return all("#findings details")[0].open;')
        outline = "return getComputedStyle(document.activeElement).outlineStyle;"
        assert page.run(outline) != "none"


def test_the_table_stands_above_folded_findings(browser: Browser) -> None:
    script = """return {
      order: all("main > section").map((one) => one.id),
      firstRow: all(".cases tbody tr")[0].getBoundingClientRect().bottom,
      findings: all("#findings li").filter((one) => one.checkVisibility()).length,
      worst: all("#findings li")[0].textContent,
      more: all("#findings summary")[0].textContent,
    };"""
    seen, _ = look(browser, page_of("sample"), script, height=900)
    assert seen["order"].index("cases") < seen["order"].index("findings")
    assert seen["firstRow"] < 900
    assert seen["findings"] == 1
    assert "crashed" in seen["worst"]
    assert seen["more"].startswith("5 more")


CHARTS = """return Object.fromEntries(all("figure.chart").map((one) => [
  one.getAttribute("aria-label"),
  [...one.querySelectorAll(".role-axis-label text")]
    .filter((text) => /[a-z]/i.test(text.textContent)).map((text) =>
    [...(text.children.length ? text.children : [text])].map((line) => line.textContent).join("")),
]));"""


def test_the_charts_of_a_model_have_the_same_rows(browser: Browser) -> None:
    """Each case, by what tells it from the others: no engine that its recipe names."""
    seen, _ = look(browser, page_of("wide"), CHARTS, is_unfolded=True)
    rows = [
        "executorch/xnnpack-int8",
        "onnxruntime/fp32",
        "openvino/int8",
        "onnxruntime/int8",
        "executorch/vulkan-fp16",
    ]
    for title in ("Steady latency", "Delegation", "Memory", "Size"):
        assert [label for label in seen[title] if "/" in label] == rows, title
    short, _ = look(browser, page_of("sample"), CHARTS, is_unfolded=True)
    assert "xnnpack-fp32" in short["Size"]


def test_the_profile_keeps_its_largest_part(browser: Browser) -> None:
    seen, _ = look(browser, page_of("wide"), CHARTS, is_unfolded=True)
    assert seen["Where the time goes"][0] == "OpaqueNpuBackend"


def test_shows_latency_against_accuracy(browser: Browser) -> None:
    script = """return {
      answers: all("#answers p").map((one) => one.textContent),
      rows: all(".trade-off tbody tr").map((row) =>
        [...row.children].map((cell) => cell.textContent)),
      numbers: all(".trade-off svg .mark-text.role-mark text").map((one) => one.textContent),
    };"""
    seen, _ = look(browser, page_of("wide"), script, is_unfolded=True)
    assert "fastest that keeps accuracy: openvino/int8, 2.1 ms" in seen["answers"][0]
    assert [row[0] for row in seen["rows"]] == [
        "1 openvino/int8",
        "2 executorch/xnnpack-int8",
        "3 onnxruntime/int8",
        "4 onnxruntime/fp32",
    ]
    assert [row[2] for row in seen["rows"]] == ["21.0 dB", "27.9 dB", "4.00 dB", "exact"]
    assert [row[-2:] for row in seen["rows"]][2:] == [["not kept", "no"], ["kept", "yes"]]
    assert seen["numbers"] == ["1", "2", "3", "4"]


def test_keeps_its_tables_without_charts(browser: Browser, tmp_path: Path) -> None:
    script = """return {
      rows: all(".cases tbody tr").length,
      notice: all(".notice").map((one) => one.textContent),
      figures: all("figure").length,
    };"""
    page = page_of("sample", env={"ASSAY_DATA_DIR": str(tmp_path)})
    seen, console = look(browser, page, script)
    assert console == []
    assert (seen["rows"], seen["figures"]) == (10, 0)
    assert "ASSAY_DATA_DIR" in seen["notice"][0]


def test_says_that_nothing_was_measured(browser: Browser) -> None:
    seen, console = look(
        browser, page_of("empty"), 'return all("h2").map((one) => one.textContent);'
    )
    assert console == []
    assert seen[0] == "Nothing was measured"


CONFORMANCE_READER = """
const seen = {};
seen.rows = all("table.heat tbody tr").map((row) =>
  [...row.children].map((cell) => `${cell.className}|${cell.textContent}`));
const shown = () =>
  all("details.failure strong")
    .filter((one) => one.checkVisibility())
    .map((one) => one.textContent);
seen.failures = shown();
seen.counts = all("#failures .note, #failures .known > summary").map((one) => one.textContent);
seen.pills = all("details.failure .pill").map((one) => [one.className, one.textContent]);
all("table.heat td.fail a")[0].click();
seen.chosen = shown();
const box = document.querySelector(".filter input");
const type = (text) => { box.value = text; box.dispatchEvent(new Event("input")); };
type("known_failure");
seen.known = shown();
type("new_failure");
seen.fresh = shown();
seen.markup = all("main script, main b").length;
seen.log = all("pre.log").length;
seen.text = document.getElementById("main").textContent;
return seen;
"""


def test_the_page_of_conformance_draws_its_map_and_finds_failures(browser: Browser) -> None:
    seen, console = look(browser, page_of("conformance"), CONFORMANCE_READER)
    assert console == []
    rows = {row[0].split("|")[1]: row[1:] for row in seen["rows"]}
    assert rows["aten.add"] == ["fail|1/2 fail numeric"]
    assert rows["aten.sub"] == ["pass|1"]
    assert rows["aten.fft"] == ["inconclusive|0/1 vacuous"]
    assert seen["chosen"] == ["aten.add/float32/1"]
    assert seen["fresh"] == ["aten.add/float32/1", "aten.fft/float32/0"]
    assert seen["markup"] == 0


def test_known_gaps_are_folded_and_quiet(browser: Browser) -> None:
    seen, _ = look(browser, page_of("conformance"), CONFORMANCE_READER)
    assert seen["failures"] == ["aten.add/float32/1", "aten.sub/float32/0", "aten.fft/float32/0"]
    assert seen["counts"] == ["3 results to look into", "1 known gap"]
    assert ["pill fail", "fail numeric"] in seen["pills"]
    assert ["pill skipped", "crashed"] in seen["pills"]
    rows = {row[0].split("|")[1]: row[1:] for row in seen["rows"]}
    assert rows["aten.mul"] == ["known|0/1 crashed"]
    assert seen["known"] == ["aten.mul/float32/0"]


def test_no_change_is_claimed_of_the_cases_that_both_runs_have_only(browser: Browser) -> None:
    script = "return document.body.textContent;"
    same, _ = look(browser, page_of("conformance_wide"), script)
    assert "No verdict changed among 43 results, the same in both runs." in same
    other, _ = look(browser, page_of("conformance"), script)
    assert (
        "2 verdicts changed among 4 results that both runs have; 1 result of this run is not in "
        "the earlier one, 2 results of the earlier run are not in this one." in other
    )
    nothing = page_of("conformance").replace('"results_compared":4', '"results_compared":0')
    apart, _ = look(browser, nothing, script)
    assert "The two runs share no result" in apart
    unknown = page_of("conformance").replace('"results_compared":4', '"results_compared":null')
    old, _ = look(browser, unknown, script)
    assert "was not recorded" in old
