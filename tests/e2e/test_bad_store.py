"""Stores and reports that cannot be read or written: told, and left as they are."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driver import Workplace, assert_told

USAGE, UNAVAILABLE = 2, 3


def test_store_that_cannot_be_written(place: Workplace) -> None:
    blocker = place.folder / "file"
    blocker.write_text("in the way", encoding="utf-8")
    spec = place.spec(place.program("net"))
    finished = place.run("run", spec, "--store", blocker / "assay.db")
    assert_told(finished, UNAVAILABLE, "assay.db", "must be writable, or name another store")


def test_store_that_is_no_database(place: Workplace) -> None:
    notes = place.folder / "notes.db"
    notes.write_text("my notes, never to be overwritten\n" * 200, encoding="utf-8")
    before = notes.read_bytes()
    finished = place.run("run", place.spec(place.program("net")), "--store", notes)
    assert_told(finished, UNAVAILABLE, "notes.db", "the store")
    assert notes.read_bytes() == before


def test_store_that_is_a_database_of_something_else(place: Workplace) -> None:
    other = place.folder / "photos.db"
    with sqlite3.connect(other) as connection:
        connection.execute("create table photo (id integer)")
    finished = place.run("run", place.spec(place.program("net")), "--store", other)
    assert_told(finished, UNAVAILABLE, "photos.db")
    with sqlite3.connect(other) as connection:
        tables = connection.execute("select name from sqlite_master").fetchall()
    assert tables == [("photo",)]


def test_store_of_a_newer_assay_is_left_alone(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    assert place.run("run", spec).code == 0
    with sqlite3.connect(place.store) as connection:
        (version,) = connection.execute("pragma user_version").fetchone()
        connection.execute(f"pragma user_version = {version + 1}")
    assert_told(place.run("run", spec), UNAVAILABLE, "assay.db", "newer")
    assert place.query("select count(*) from run") == [(1,)]


def test_report_that_cannot_be_written_is_told_before_anything_is_measured(
    place: Workplace,
) -> None:
    spec = place.spec(place.program("net"))
    for flag, target in (("--report", "absent/report.html"), ("--out", "absent/report.txt")):
        finished = place.run("run", spec, flag, target)
        assert_told(finished, USAGE, f"{flag} {target}: folder 'absent' does not exist")
    (place.folder / "report.html").mkdir()
    finished = place.run("run", spec, "--report", "report.html")
    assert_told(finished, UNAVAILABLE, "cannot write 'report.html'", "choose a file")
    assert not place.store.exists()
    assert not (place.folder / "absent").exists()


def test_a_mistyped_store_is_not_made(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    finished = place.run("run", spec, "--store", "absent/sub/x.db")
    assert_told(finished, USAGE, "--store absent/sub/x.db: folder 'absent/sub' does not exist")
    assert not (place.folder / "absent").exists()
    for reading in (["list", "runs"], ["report"]):
        assert_told(place.run(*reading, "--store", "typo.db"), USAGE, "typo.db", "no such store")
    assert not (place.folder / "typo.db").exists()
    listed = place.run("list", "runs")
    assert (listed.code, listed.out) == (0, ""), listed
    assert not place.store.exists()


def test_a_baseline_that_no_case_has_is_refused(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    finished = place.run("run", spec, "--baseline", "executorch/xnnpack-fp32")
    assert_told(finished, USAGE, "--baseline executorch/xnnpack-fp32: no case has this recipe")
    assert not place.store.exists()
    assert place.run("run", spec, "--baseline", "program").code == 0
    finished = place.run("report", "--baseline", "progam")
    assert_told(finished, USAGE, "did you mean 'program'?")


def test_the_ending_of_out_is_the_format(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    assert place.run("run", spec, "--out", "x.html").code == 0
    assert (place.folder / "x.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert place.run("report", "--out", "x.json").code == 0
    assert json.loads((place.folder / "x.json").read_text(encoding="utf-8"))["cases"]
    assert place.run("report", "--out", "x.json", "--format", "csv").code == 0
    assert "," in (place.folder / "x.json").read_text(encoding="utf-8").splitlines()[0]


def test_no_report_takes_the_place_of_a_store_or_an_input(place: Workplace) -> None:
    net = place.program("net")
    spec = place.spec(net)
    assert place.run("run", spec).code == 0
    link = place.folder / "link.json"
    link.symlink_to(spec)
    kept = {path: path.read_bytes() for path in (place.store, spec, net)}
    for arguments in (
        ("report", "--format", "json", "--out", place.store),
        ("run", spec, "--format", "json", "--out", place.store, "--quiet"),
        ("run", spec, "--report", spec, "--quiet"),
        ("run", spec, "--report", link, "--quiet"),
        ("run", spec, "--report", net, "--quiet"),
        ("bench", net, "--out", net, "--quiet"),
    ):
        finished = place.run(*arguments)
        assert_told(finished, USAGE, "would overwrite", "name another file")
        assert {path: path.read_bytes() for path in kept} == kept, arguments
    assert place.run("run", spec, "--out", "text", "--quiet").code == 0
    assert place.run("run", spec, "--out", "text", "--quiet").code == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small disk here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_full_disk_keeps_what_was_measured_before(place: Workplace, small_disk: Path) -> None:
    store = small_disk / "assay.db"
    spec = place.spec(place.program("net"))
    assert place.run("run", spec, "--store", store).code == 0
    free = os.statvfs(small_disk)
    filler = small_disk / "filler"
    filler.write_bytes(bytes((free.f_bavail - 60) * free.f_bsize))
    many = place.spec(
        *(place.program(f"net{i}") for i in range(8)),
        name="many",
        measure={"launches": 3, "warmup": 0, "iterations": 600, "time_budget": "2s"},
    )

    finished = place.run("run", many, "--store", store, "--quiet")

    assert_told(finished, UNAVAILABLE, "full", str(store))
    filler.unlink()
    launches = rows(store, "select outcome from launch")
    assert launches, "what was measured before is gone"
    assert rows(store, "pragma integrity_check") == [("ok",)]
    resumed = place.run("run", "--resume", "latest", "--store", store, "--format", "json")
    assert resumed.code == 0, resumed
    assert len(resumed.json()["cases"]) == 8


def rows(store: Path, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(store) as connection:
        return connection.execute(sql).fetchall()
