"""Reports for other tools, by the rules of their readers: their code where a package has it."""

import ast
import csv
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parents[2]
PEERS = Path(__file__).parent / "peers"
BIN = ROOT / "build" / "release" / "bin"

SAMPLES = ("sample", "empty", "comparison", "wide")
RANGE = re.compile(r"(?:\+-|±)\s*(\d.*)")
"""github-action-benchmark, src/extractRangeInfo.ts: what follows must be one number."""


def written(report_format: str, sample: str) -> str:
    """A sample by the program that has it: that of the exchange knows every format of a run."""
    module = "exchange" if sample in SAMPLES else "history" if sample == "history" else "report"
    program = BIN / f"assay_{module}_sample"
    if not program.exists():
        pytest.fail(f"{program} is missing: build it")
    done = subprocess.run(
        [program, report_format, sample], capture_output=True, text=True, check=True
    )
    return done.stdout


def without_infinities(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def schema(name: str) -> dict[str, Any]:
    document = json.loads((PEERS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(document)
    return dict(document)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize(
    ("report_format", "name"), [("pytorch-hud", "pytorch_hud"), ("perfherder", "perfherder")]
)
def test_a_report_keeps_the_schema_of_its_reader(
    report_format: str, name: str, sample: str
) -> None:
    document = without_infinities(written(report_format, sample))
    jsonschema.validate(document, schema(name))


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("perfherder", {"framework": {"name": "assay"}, "suites": [{"name": "x"}]}),
        ("pytorch_hud", [{"benchmark": {"name": "Assay"}, "model": {"name": "m"}}]),
    ],
)
def test_a_schema_refuses_what_its_reader_refuses(name: str, broken: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema(name))


def test_series_of_the_hud_have_keys_of_their_own() -> None:
    """Its dashboards join records by these fields; two cases in one series would be averaged."""
    keys = [
        (
            one["model"]["name"],
            one["model"]["backend"],
            one["benchmark"]["dtype"],
            one["metric"]["name"],
            one["runners"][0]["name"],
            one["runners"][0]["type"],
        )
        for one in without_infinities(written("pytorch-hud", "sample"))
    ]
    assert len(keys) > 50
    assert len(set(keys)) == len(keys)


def test_series_of_perfherder_have_keys_of_their_own() -> None:
    suites = without_infinities(written("perfherder", "sample"))["suites"]
    keys = [(one["name"], *sorted(one["extraOptions"])) for one in suites]
    assert len(set(keys)) == len(keys)
    for suite in suites:
        names = [one["name"] for one in suite["subtests"]]
        assert len(set(names)) == len(names)


ALL_SAMPLES = (*SAMPLES, "conformance", "conformance_wide")
HOSTILE = "</script><script>alert(1)</script>"


@pytest.mark.parametrize("sample", ALL_SAMPLES)
def test_junit_is_xml_whose_suites_count_their_tests(sample: str) -> None:
    """As the schema of Jenkins' plug-in has it, with the properties that pytest writes, too."""
    root = ElementTree.fromstring(written("junit", sample))
    assert root.tag == "testsuites"
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases) > 0
        for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[counted]) == len(suite.findall(f"testcase/{tag}")), tag
        names = [(case.attrib["classname"], case.attrib["name"]) for case in cases]
        assert len(set(names)) == len(names) or sample == "conformance_wide"
        for case in cases:
            order = [*map(JUNIT_ORDER.index, (part.tag for part in case))]
            assert order == sorted(order)
            assert float(case.attrib.get("time", 0)) >= 0
    if sample == "sample":
        assert any(case.attrib["classname"] == HOSTILE for case in root.iter("testcase"))


JUNIT_ORDER = ["properties", "skipped", "error", "failure", "system-out", "system-err"]


@pytest.mark.parametrize("sample", ALL_SAMPLES)
def test_markdown_has_tables_and_texts_and_no_markup_of_a_name(sample: str) -> None:
    """By the rules of CommonMark with GitHub's tables."""
    markdown_it = pytest.importorskip("markdown_it")
    tokens = markdown_it.MarkdownIt("commonmark").enable("table").parse(written("md", sample))
    inline = [child for token in tokens for child in token.children or []]
    kinds = {token.type for token in [*tokens, *inline]}
    assert kinds.isdisjoint({"html_block", "link_open", "image"})
    tags = {token.content for token in inline if token.type == "html_inline"}
    assert tags <= {"<sub>", "</sub>"}, "of Assay itself"
    cells: list[int] = []
    for token in tokens:
        if token.type == "tr_open":
            cells.append(0)
        elif token.type in ("th_open", "td_open"):
            cells[-1] += 1
    assert bool(cells) == (sample != "empty")
    assert all(count > 1 for count in cells)
    if sample == "sample":
        texts = ["".join(child.content for child in token.children or []) for token in tokens]
        assert any(HOSTILE in text for text in texts)


@pytest.mark.parametrize("sample", [*ALL_SAMPLES, "history"])
def test_tables_and_documents_are_whole(sample: str) -> None:
    rows = list(csv.reader(io.StringIO(written("csv", sample)), strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(set(rows[0])) == len(rows[0])
    document = without_infinities(written("json", sample))
    assert document["schema"].startswith("assay/")
    if sample != "history":
        lines = [*map(without_infinities, written("jsonl", sample).splitlines())]
        assert len(lines) == len(rows) - 1
        assert len(lines) == len(document.get("cases") or document.get("results") or [])


@pytest.mark.parametrize("sample", SAMPLES)
def test_entries_are_what_github_action_benchmark_extracts(sample: str) -> None:
    entries = without_infinities(written("github-benchmark", sample))
    assert (len(entries) == 0) == (sample == "empty")
    for entry in entries:
        assert set(entry) <= {"name", "value", "unit", "range", "extra"}
        assert isinstance(entry["value"], int | float)
        assert all(isinstance(entry[key], str) for key in set(entry) - {"value"})
        if "range" in entry:
            match = RANGE.search(entry["range"])
            assert match is not None
            assert float(match[1]) >= 0
    names = [entry["name"] for entry in entries]
    assert len(set(names)) == len(names)


def suite_rows(sample: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written("executorch-suite", sample))))


def test_the_columns_are_those_of_executorchs_suite() -> None:
    reporting = pytest.importorskip("executorch.backends.test.suite.reporting")
    head = written("executorch-suite", "empty").splitlines()[0]
    assert next(csv.reader([head])) == reporting.CSV_FIELD_NAMES


def test_results_are_words_of_executorchs_suite() -> None:
    reporting = pytest.importorskip("executorch.backends.test.suite.reporting")
    allowed = {(one.to_short_str(), one.to_detail_str()) for one in reporting.TestResult}
    rows = suite_rows("sample")
    assert {(row["Result"], row["Result Detail"]) for row in rows} <= allowed
    assert [row["Result"] for row in rows].count("Fail") == 4


def test_executorch_summarizes_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = pytest.importorskip("executorch.backends.test.suite.generate_markdown_summary")
    path = tmp_path / "suite.csv"
    path.write_text(written("executorch-suite", "sample"), encoding="utf-8")
    reader.generate_markdown(str(path))
    text = capsys.readouterr().out
    assert "- **Pass**: 4/8 (50.00%)" in text
    assert "- **Skip**: 2" in text
    assert "- **Lowering Failed**: 1/4" in text


def test_parameters_and_operators_read_back() -> None:
    for row in suite_rows("sample"):
        assert (row["Params"] == "") == (row["Result"] == "Skip")
        parameters = json.loads(row["Params"] or "{}")
        assert all(isinstance(value, str) for value in parameters.values())
        for column in ("Delegated Ops", "Undelegated Ops"):
            assert not row[column] or isinstance(ast.literal_eval(row[column]), dict)
    undelegated = ast.literal_eval(suite_rows("sample")[0]["Undelegated Ops"])
    assert undelegated["aten.convolution.default"] == 52
