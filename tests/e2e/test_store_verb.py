"""A store as a whole: what it holds, what may go, and parts of it for elsewhere."""

from pathlib import Path

import pytest
from driver import Document, Workplace, assert_told


def bench(place: Workplace, *flags: str) -> str:
    """A short run; its id."""
    once = ["--launches", "1", "--iterations", "3", "--warmup", "1", "--quiet", "--format", "json"]
    finished = place.run("bench", place.program("net"), *once, *flags)
    assert finished.code in (0, 1, 6), finished
    return str(finished.json()["run"]["id"])


def info(place: Workplace, *flags: str) -> Document:
    return place.ok("store", "info", "--format", "json", *flags).json()


def ids(place: Workplace, *flags: str) -> list[str]:
    runs = place.ok("runs", "--format", "json", "--limit", "-1", *flags).json()["runs"]
    return [run["id"] for run in runs]


def test_info_counts_runs_rows_and_bytes(place: Workplace) -> None:
    bench(place)
    bench(place)
    told = info(place)
    assert (told["runs"], told["unfinished_runs"]) == (2, 0)
    tables = {table["name"]: table for table in told["tables"]}
    runs = place.ok("runs", "--format", "json").json()["runs"]
    assert tables["launch"]["rows"] == sum(run["launches"] for run in runs) >= 2
    assert 0 < sum(table["bytes"] for table in told["tables"]) <= told["bytes"]
    assert told["oldest_unix_ns"] < told["newest_unix_ns"]
    assert "runs    2, 0 of them unfinished" in place.ok("store", "info").out


def test_a_store_that_is_absent_is_told_and_not_made(place: Workplace) -> None:
    assert_told(place.run("store", "info"), 2, "the store has no runs yet")
    assert not place.store.exists()


def test_a_label_keeps_a_run_from_every_rule(place: Workplace) -> None:
    kept = bench(place, "--label", "keep=until the release")
    bench(place)
    newest = bench(place)
    for verb in (("store", "prune"), ("runs", "prune")):
        planned = place.ok(*verb, "--older-than", "0s", "--dry-run").out
        assert kept[:13] not in planned
        assert newest[:13] in planned
    place.ok("store", "prune", "--keep", "1")
    assert ids(place) == [newest, kept]
    place.ok("store", "tag", kept, "--remove", "keep")
    place.ok("store", "prune", "--keep", "1")
    assert ids(place) == [newest]


def test_vacuum_says_how_much_it_gave_back(place: Workplace) -> None:
    bench(place)
    assert "the store takes" in place.ok("store", "vacuum").out


def test_an_exported_part_has_its_runs_and_merges_again(place: Workplace, tmp_path: Path) -> None:
    wanted = bench(place, "--label", "branch=main")
    bench(place)
    part = tmp_path / "part.db"
    place.ok("store", "export", "--label", "branch=main", "--out", part)
    assert ids(place, "--store", str(part)) == [wanted]
    shown = [
        place.ok("report", wanted, "--format", "json", "--store", str(store)).json()
        for store in (place.store, part)
    ]
    assert shown[0]["cases"][0]["metrics"] == shown[1]["cases"][0]["metrics"]
    assert shown[0]["cases"][0]["launches"] == shown[1]["cases"][0]["launches"]
    place.ok("runs", "rm", wanted)
    place.ok("merge", part)
    assert wanted in ids(place)
    assert [one.name for one in tmp_path.glob("part.db*")] == ["part.db"]


def test_runs_are_exported_by_reference(place: Workplace, tmp_path: Path) -> None:
    first, second, _ = bench(place), bench(place), bench(place)
    part = tmp_path / "part.db"
    told = place.ok("store", "export", first, second, "--out", part).out
    assert "2 runs" in told
    assert ids(place, "--store", str(part)) == [second, first]


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        ([], 2, "say which runs to export"),
        (["--label", "absent"], 5, "no run has these labels"),
        (["feed"], 5, "feed"),
    ],
)
def test_an_export_of_nothing_leaves_no_file(
    place: Workplace, tmp_path: Path, flags: list[str], code: int, words: str
) -> None:
    bench(place)
    part = tmp_path / "part.db"
    failed = place.run("store", "export", *flags, "--out", part)
    assert failed.code in (code, 2), failed
    assert words in failed.err
    assert list(tmp_path.glob("part.db*")) == []


def test_an_export_replaces_no_file(place: Workplace, tmp_path: Path) -> None:
    bench(place)
    part = tmp_path / "part.db"
    part.write_text("mine")
    assert_told(place.run("store", "export", "latest", "--out", part), 2, "exists")
    assert part.read_text() == "mine"
