"""Opens the HTML report of the sample run in headless Chromium: do the charts draw, does it sort?

    ASSAY_BIN=build/release/bin python -m pytest tests/report/test_page.py

The page is a file and has no server, so each check is a script put at its end that plays the reader
and says what it sees on the console, which Chromium copies to stderr.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

BIN = Path(os.environ.get("ASSAY_BIN", "build/release/bin"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--enable-logging=stderr"),
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here"),
    pytest.mark.skipif(not (BIN / "assay_report_sample").exists(), reason="set ASSAY_BIN"),
]

DEADLINE_S = 120

OBSERVER = """
<script>
const isUnfolded = %s;
if (isUnfolded) document.querySelectorAll("details").forEach((one) => { one.open = true; });
const all = (selector) => [...document.querySelectorAll(selector)];
const observe = () => {
  const seen = (() => { %s })();
  console.log("SEEN:" + encodeURIComponent(JSON.stringify(seen)) + ":");
};
// A chart is drawn when a frame shows it; on a busy machine that may be seconds after the load.
const wait = (left) => {
  const isDrawn = !isUnfolded || all(".canvas").every((one) => "drawn" in one.dataset);
  isDrawn || left === 0 ? observe() : setTimeout(wait, 100, left - 1);
};
window.addEventListener("load", () => setTimeout(wait, 500, 600));
</script>
"""


def page_of(run: str, env: dict[str, str] | None = None) -> str:
    """The page that assay_report_sample writes."""
    command = [str(BIN / "assay_report_sample"), "html", run]
    result = subprocess.run(command, capture_output=True, check=True, env=env)
    return result.stdout.decode()


def look(
    page: str, script: str, *, width: int = 1400, height: int = 24000, is_unfolded: bool = False
) -> tuple[Any, list[str]]:
    """What `script` returns in the opened page, and the console's lines.

    `script` is the body of a function in which `all(selector)` is at hand. Chromium draws no frames
    once a page is at rest, so what must be seen drawn is unfolded before.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        before, _, after = page.rpartition("</body>")
        path.write_text(
            before + OBSERVER % (json.dumps(is_unfolded), script) + "</body>" + after,
            encoding="utf-8",
        )
        command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder}/profile"]
        command += [f"--window-size={width},{height}", path.as_uri()]
        lines = console_of(command)
    if not lines or "SEEN:" not in lines[-1]:
        raise AssertionError("the page's script did not end:\n" + "\n".join(lines))
    return json.loads(unquote(lines[-1].split("SEEN:")[1].split(":")[0])), lines[:-1]


def console_of(command: list[str]) -> list[str]:
    """The lines of the page's console up to the one with what was seen; then Chromium is ended."""
    lines = []
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    end = threading.Timer(DEADLINE_S, os.killpg, (process.pid, signal.SIGKILL))
    end.start()
    assert process.stderr is not None
    for raw in process.stderr:
        line = raw.decode(errors="replace")
        if "CONSOLE" in line:
            lines.append(line)
        if "SEEN:" in line:
            break
    end.cancel()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.stderr.close()
    process.wait()
    return lines


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
def visit(page: str) -> tuple[Any, list[str]]:
    """What a reader sees who unfolds everything, sorts and filters; one Chromium for all of it."""
    return look(page, READER, is_unfolded=True)


def test_draws_every_chart(visit: tuple[Any, list[str]]) -> None:
    charts = visit[0]["charts"]
    assert len(charts) >= 15
    assert all(marks > 0 for marks in charts), charts
    assert visit[0]["profile"] == 1


def test_says_nothing_on_the_console(visit: tuple[Any, list[str]]) -> None:
    assert visit[1] == []


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


def test_fits_a_narrow_window(page: str) -> None:
    script = "return [document.documentElement.scrollWidth, innerWidth];"
    seen, _ = look(page, script, width=500, height=48000, is_unfolded=True)
    assert seen[0] <= seen[1]


def test_keeps_its_tables_without_charts(tmp_path: Path) -> None:
    script = """return {
      rows: all(".cases tbody tr").length,
      notice: all(".notice").map((one) => one.textContent),
      figures: all("figure").length,
    };"""
    seen, console = look(page_of("sample", env={"ASSAY_DATA_DIR": str(tmp_path)}), script)
    assert console == []
    assert (seen["rows"], seen["figures"]) == (10, 0)
    assert "ASSAY_DATA_DIR" in seen["notice"][0]


def test_says_that_nothing_was_measured() -> None:
    seen, console = look(page_of("empty"), 'return all("h2").map((one) => one.textContent);')
    assert console == []
    assert seen[0] == "Nothing was measured"


CONFORMANCE_READER = """
const seen = {};
seen.rows = all("table.heat tbody tr").map((row) =>
  [...row.children].map((cell) => `${cell.className}|${cell.textContent}`));
const shown = () => all("details.failure strong").map((one) => one.textContent);
seen.failures = shown();
all("table.heat td.fail a")[0].click();
seen.chosen = shown();
const box = document.querySelector(".filter input");
box.value = "new_failure";
box.dispatchEvent(new Event("input"));
seen.fresh = shown();
seen.markup = all("main script, main b").length;
seen.log = all("pre.log").length;
return seen;
"""


def test_the_page_of_conformance_draws_its_map_and_finds_failures() -> None:
    seen, console = look(page_of("conformance"), CONFORMANCE_READER)
    assert console == []
    rows = {row[0].split("|")[1]: row[1:] for row in seen["rows"]}
    assert rows["aten.add"] == ["fail|1/2 fail numeric"]
    assert rows["aten.sub"] == ["pass|1"]
    assert rows["aten.fft"] == ["inconclusive|0/1 vacuous"]
    assert len(seen["failures"]) == 4
    assert seen["chosen"] == ["aten.add/float32/1"]
    assert seen["fresh"] == ["aten.add/float32/1", "aten.fft/float32/0"]
    assert seen["markup"] == 0
