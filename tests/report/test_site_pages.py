"""Opens the pages of `assay site` in headless Chromium: charts, search, keyboard, width.

ASSAY_BIN=build/release/bin python -m pytest tests/report/test_site_pages.py
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from test_page import OVERFLOW, chromium_or_end, functions_of

BIN = Path(os.environ.get("ASSAY_BIN", "build/release/bin"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BIN / "assay").exists(), reason="set ASSAY_BIN"),
]

SECTIONS = ["index", "runs", "models", "conformance", "comparisons", "incidents", "devices"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    running = Browser(chromium_or_end())
    yield running
    running.close()


def program(folder: Path, name: str, execute_ns: int) -> Path:
    """A program of the fake engine."""
    vector = {"dtype": "float32", "shape": [1, 4]}
    path = folder / f"{name}.fake.json"
    path.write_text(json.dumps({"inputs": [vector], "outputs": [vector], "execute_ns": execute_ns}))
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of four runs of two cases, hostile labels and a broken gate, and a comparison."""
    folder = tmp_path_factory.mktemp("site")
    env = {**os.environ, "ASSAY_HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder)}
    quick = ["--launches", "2", "--iterations", "5", "--warmup", "1", "--quiet"]
    nets = [program(folder, "net", 100_000), program(folder, "other", 200_000)]

    def assay(*arguments: str | Path) -> None:
        command = [str(BIN / "assay"), *map(str, arguments)]
        ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert ended.returncode in (0, 1, 6), (command, ended)

    for number in range(3):
        label = f"note=<img src=x onerror=alert({number})>"
        broken = ["--require", "steady_ns<=1ns"] if number == 1 else []
        assay("bench", nets[0], *quick, "--label", label, *broken)
    long = ["--label", f"commit={'0123456789' * 4}", "--label", f"note={'x' * 90}"]
    assay("bench", nets[1], *quick, *long)
    assay("compare", *nets, "--most-pairs", "10", *quick[2:])
    assay("site", folder / "pages")
    return folder / "pages"


def test_pages_are_whole_and_draw_their_charts(browser: Browser, site: Path) -> None:
    for path in [*site.glob("*.html"), *site.glob("*/*.html")]:
        with browser.open_file(path, is_unfolded=True) as page:
            assert page.run('return all("h1").length;') == 1, path
            assert page.run('return all("img").length;') == 0, path
            charts = 'return all("figure[data-chart]:not([hidden]) .canvas:not([data-drawn])")'
            assert page.run(f"{charts}.length;") == 0, path
            assert page.console() == [], path
    for case in site.glob("cases/*.html"):
        with browser.open_file(case, is_unfolded=True) as page:
            marks = 'figure[data-chart="over-time"] :is(.mark-symbol path, canvas)'
            assert page.run(f"return all('{marks}').length;") > 0, case


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("is_dark", [False, True])
def test_nothing_is_wider_than_the_screen(
    browser: Browser, site: Path, width: int, is_dark: bool
) -> None:
    paths = [site / f"{name}.html" for name in [*SECTIONS, "search"]]
    for path in [*paths, *site.glob("cases/*.html"), *site.glob("models/*.html")]:
        with browser.open_file(path, width=width, is_dark=is_dark) as page:
            wider = page.run("return document.documentElement.scrollWidth - innerWidth;")
            assert wider <= 0, (path, wider)
            assert page.run(OVERFLOW)["problems"] == [], path


def test_the_filters_leave_the_runs_that_they_name(browser: Browser, site: Path) -> None:
    with browser.open_file(site / "runs.html") as page:
        shown = 'all("tbody tr:not([hidden]) td[data-label=verb]").map((one) => one.textContent)'
        choose = (
            'const box = document.querySelector("#run-filters select[name=%s]");'
            'box.value = "%s"; box.dispatchEvent(new Event("change", { bubbles: true }));'
        )
        assert len(page.run(f"return {shown};")) == 5
        page.run(choose % ("verb", "compare"))
        assert page.run(f"return {shown};") == ["compare"]
        assert page.run('return document.getElementById("shown-runs").textContent;').startswith(
            "1 of"
        )
        page.run(choose % ("verb", ""))
        page.run(choose % ("label", f"commit={'0123456789' * 4}"))
        assert page.run(f"return {shown};") == ["bench"]


OVER_TIME = """
const [figure] = all('figure[data-chart="over-time"]');
const textsOf = (path) => [...figure.querySelectorAll(path)].map((one) => one.textContent);
const marks = figure.querySelectorAll(".mark-symbol.role-mark");
const crosses = marks[marks.length - 1].querySelectorAll("path");
const box = crosses[0].getBoundingClientRect();
return {
  labels: textsOf(".role-axis:not([aria-hidden=true]) text"),
  crosses: crosses.length,
  cross: { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 },
  note: figure.querySelector("figcaption").textContent,
  runs: all("tbody th time, tbody td time").map((one) => one.textContent),
};
"""
SITE_SCRIPT = "../../../features/site/assets/site.js"
TICKS = (
    functions_of(SITE_SCRIPT, "SECOND", "MINUTE", "HOUR", "DAY", "TIME_STEPS", "timeTicks")
    + """
const first = 1795807529318;
return [3e3, 2e5, 36e5, 3e8, 8e9, 2e11].map(
  (span) => timeTicks(first, first + span, innerWidth).ticks.length);
"""
)
TOOLTIP = 'document.getElementById("vg-tooltip-element").innerText'


def test_a_chart_over_time_has_labels_and_a_whole_legend(browser: Browser, site: Path) -> None:
    is_broken = 'data-label="result"><span class="pill fail">'
    case = next(path for path in site.glob("cases/*.html") if is_broken in path.read_text())
    for width in (390, 1280):
        with browser.open_file(case, width=width, is_unfolded=True) as page:
            seen = page.run(OVER_TIME)
            assert len(seen["labels"]) > 3, "of both axes, and their titles"
            assert all(2 <= count <= 3 + width / 100 for count in page.run(TICKS))
            assert len(set(seen["labels"])) == len(seen["labels"]), "no two ticks read the same"
            assert seen["crosses"] == 1
            assert "✕: 1 run with a failure" in seen["note"]
            page.call("Emulation.setTimezoneOverride", timezoneId="Asia/Tokyo")
            page.call("Input.dispatchMouseEvent", type="mouseMoved", **seen["cross"])
            told = page.wait_until(TOOLTIP)
            assert re.search(r"result\s+fail", told)
            (began,) = re.findall(r"run, UTC\s+([-\d]+ [:\d]+)", told)
            assert began in seen["runs"], "the list beside it has the same hour"


def test_the_search_leaves_what_has_all_words(browser: Browser, site: Path) -> None:
    with browser.open_file(site / "search.html") as page:
        assert page.run('return all(".hits li:not([hidden])").length;') == 0
        page.press("/", 191, "/")
        assert page.run("return document.activeElement.name;") == "q"
        page.run('document.activeElement.value = "OTHER bench";')
        page.press("Enter", 13, "\r")
        # Until the script of the next page has run, all entries are shown.
        page.wait_until('document.getElementById("hits").textContent.includes(" for ")')
        assert page.run('return all(".hits li:not([hidden])").length;') >= 1
        texts = page.run('return all(".hits li:not([hidden])").map((one) => one.textContent);')
        assert all("other" in text and "bench" in text for text in texts)


def test_every_link_of_the_navigation_works_from_files(browser: Browser, site: Path) -> None:
    run = next(site.glob("runs/*.html"))
    with browser.open_file(run) as page:
        links = page.run('return all("nav.site a").map((one) => one.href);')
    assert [Path(link).stem for link in links] == SECTIONS
    for link in links:
        assert Path(link.removeprefix("file://")).exists(), link
