"""assay history: series from a CSV file, and what is wrong with one."""

import csv
import io
import json
import random
from pathlib import Path

import pytest
from driver import Workplace

STEP_AT = 60


def write_series(folder: Path) -> Path:
    """Two series over 100 commits: one is 6 % slower from the 61st on, one stays."""
    rng = random.Random(5)
    rows = ["commit,time,value,series,metric"]
    for name, step in (("stepped", 1.06), ("flat", 1.0)):
        for i in range(100):
            value = 1e6 * (step if i >= STEP_AT else 1) * (1 + rng.gauss(0, 0.01))
            rows.append(f"c{i:03d},{1767225600 + 3600 * i},{value:.1f},{name},steady_ns")
    path = folder / "times.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_step_is_found_in_every_format(place: Workplace, tmp_path: Path) -> None:
    path = str(write_series(tmp_path))
    text = place.ok("history", "--from", path).out
    assert "at c060 2026-01-03" in text, text
    document = place.ok("history", "--from", path, "--format", "json").json()
    stepped, flat = document["series"]
    assert (len(stepped["steps"]), len(flat["steps"])) == (1, 0)
    step = stepped["steps"][0]
    assert step["low"] < 0.06 < step["high"]
    assert step["last_before"] < step["commit"] <= step["first_after"]
    table = place.ok("history", "--from", path, "--format", "csv").out
    rows = [row for row in csv.DictReader(io.StringIO(table)) if row["kind"] == "step"]
    assert [row["commit"] for row in rows] == ["c060"]
    page = tmp_path / "history.html"
    place.ok("history", "--from", path, "--format", "html", "--out", str(page))
    data = page.read_text().split('id="assay-data">')[1].split("</script>")[0]
    assert json.loads(data)["commit_count"] == 100


def test_series_and_commits_are_chosen(place: Workplace, tmp_path: Path) -> None:
    path = str(write_series(tmp_path))
    only = place.ok("history", "--from", path, "--only", "flat", "--format", "json").json()
    assert [one["name"] for one in only["series"]] == ["flat"]
    since = place.ok("history", "--from", path, "--since", "c070", "--format", "json").json()
    assert since["series"][0]["points"]["commit"][0] == "c070"
    assert since["series"][0]["steps"] == []
    whole = Path(path).read_text()
    ended = [row for row in whole.splitlines() if "flat" not in row or row < "c050"]
    Path(path).write_text("\n".join(ended) + "\n")
    page = place.ok("history", "--from", path, "--since", "c070", "--format", "html").out
    data = json.loads(page.split('id="assay-data">')[1].split("</script>")[0])
    assert [one["name"] for one in data["series"]] == ["stepped", "flat"], "one of them has ended"
    Path(path).write_text(whole)
    raised = place.ok("history", "--from", path, "--min-effect", "9", "--format", "json").json()
    assert raised["series"][0]["steps"] == []
    explained = place.ok("history", "--from", path, "--explain", "c060").out
    assert "a step of +" in explained
    assert "no step lies here" in explained


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("commit,value,unit\na,-3,ns\n", "times.csv:2: the value -3 is not above 0"),
        ("commit,value\na,\n", "times.csv:2: the value is empty"),
        ("commit,valeu\n", "times.csv:1: unknown column 'valeu'; did you mean 'value'?"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(
    place: Workplace, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "times.csv"
    path.write_text(text)
    done = place.run("history", "--from", str(path))
    assert done.code == 2
    assert said in done.err


def test_rows_without_a_point_are_counted_and_hide_no_other(
    place: Workplace, tmp_path: Path
) -> None:
    path = tmp_path / "times.csv"
    path.write_text("commit,value,unit\na,5,1/s\nb,,1/s\nc,nan,1/s\nd,6,1/s\n")
    text = place.ok("history", "--from", str(path)).out
    assert text.startswith("2 rows are no point; line 3: the value is empty\n"), text
    document = place.ok("history", "--from", str(path), "--format", "json").json()
    assert document["notes"] == ["2 rows are no point; line 3: the value is empty"]
    (series,) = document["series"]
    assert series["points"]["value"] == [5, 6]
    assert (series["is_ratio"], series["better"]) == (True, "higher")


def test_names_that_do_not_exist_are_refused(place: Workplace, tmp_path: Path) -> None:
    path = str(write_series(tmp_path))
    for flags, said in (
        (["--metric", "stedy_ns"], "did you mean 'steady_ns'?"),
        (["--only", "zzz"], "no series whose name contains 'zzz'"),
        (["--since", "x"], "no commit 'x'"),
        (["--explain", "c0"], "several commits begin with 'c0'"),
        (["--out", path], "is an input of this command"),
        (["--min-effect", "0"], "a percentage above 0"),
    ):
        done = place.run("history", "--from", path, *flags)
        assert done.code == 2, flags
        assert said in done.err, done.err
