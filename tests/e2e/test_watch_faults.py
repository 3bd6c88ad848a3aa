"""Whatever befalls a watcher: nothing is lost or measured twice, and --status has the reason."""

import contextlib
import json
import sqlite3
import time
from collections import Counter

import pytest
from driver import BIN, Workplace, assert_told, wait_for_end
from toy_repository import Source, incidents, launches, points, repository_file, watch

DAY_NS = 86_400_000_000_000


@pytest.fixture
def source(place: Workplace) -> Source:
    return Source(place)


def status(place: Workplace) -> str:
    return place.ok("watch", "toy.json", "--status").out


def assert_measured_once(place: Workplace) -> None:
    counts = Counter((series, revision) for series, revision, _ in points(place))
    assert max(counts.values()) <= 2, "two looks at each build, and no more"
    assert place.query("SELECT id FROM run WHERE finished_unix_ns = 0") == []
    assert place.query("SELECT revision FROM engine_build GROUP BY 1 HAVING count(*) > 1") == []


def test_a_build_that_hangs(place: Workplace, source: Source) -> None:
    document = repository_file()
    environment = document["environments"]["default"]
    environment["build"].insert(
        0, ["sh", "-c", "if grep -q HANG {source}/bench; then sleep 60; fi"]
    )
    environment["timeout"] = "1s"
    (place.folder / "toy.json").write_text(json.dumps(document))
    source.commit("Add a benchmark")
    hanging = source.commit("Hang", text="#!/bin/sh\n# HANG BEGIN\n")
    began = time.monotonic()
    watch(place)
    assert time.monotonic() - began < 50, "the build was ended"
    assert f"failed       {hanging[:12]}  Hang: step 1 (sh) took longer than 1" in status(place)
    assert {revision for _, revision, _ in points(place)} == {source.hashes[0]}
    assert_measured_once(place)


def test_a_mistake_in_the_spec_is_told_before_a_build(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    spec = place.folder / "bench.spec.json"
    spec.write_text(json.dumps({**json.loads(spec.read_text()), "settings": {}}))
    for words in (("watch", "toy.json", "--once"), ("bisect", "toy.json", "HEAD~1..HEAD")):
        assert_told(place.run(*words), 2, "unknown key 'settings'")
    assert not (place.home / "builds").exists()
    status(place)


def test_a_commit_without_the_benchmark(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    (place.folder / "source" / "bench").unlink()
    source.git("add", "--all")
    source.git("commit", "--quiet", "--message", "Remove the benchmark")
    removed = source.git("rev-parse", "HEAD")
    watch(place)
    assert f"failed       {removed[:12]}  Remove the benchmark: " in status(place)
    before = launches(place)
    watch(place)
    assert launches(place) == before


def test_a_forced_push(place: Workplace, source: Source) -> None:
    for i in range(3):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    watch(place)
    kept = points(place)
    source.git("reset", "--quiet", "--hard", source.hashes[0])
    source.commit("relu: another part", conv=100.01)
    again = watch(place)
    assert "branch 'main' was force-pushed" in again.err
    assert set(kept) <= set(points(place)), "no point is lost"
    shown = status(place)
    assert "2 commits: 2 measured" in shown
    assert "by a forced push: 2 commits with points" in shown
    assert_measured_once(place)


def test_a_clock_that_was_set_back(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    worse = source.commit("conv: simplify", conv=112)
    watch(place)
    # As if all of that had been done in a year from now.
    later = 365 * DAY_NS
    for table, column in (("engine_build", "built"), ("incident", "changed")):
        change(
            place,
            f"UPDATE {table} SET {column}_unix_ns = {column}_unix_ns + {later}, document = "
            f"json_set(document, '$.{column}_unix_ns', {column}_unix_ns + {later})",
        )
    change(place, f"UPDATE point SET measured_unix_ns = measured_unix_ns + {later}")
    times = ", ".join(f"{one}_ns = {one}_ns + {later}" for one in ("started_unix", "finished_unix"))
    change(place, f"UPDATE run SET {times}, order_ns = order_ns + {later}")
    fix = source.commit("conv: unroll", conv=100.01)
    watch(place)
    assert {one["culprit"]: one["state"] for one in incidents(place)} == {
        **{worse: "fixed", fix: "confirmed"}
    }
    assert "clock        it was set back" in status(place)
    assert_measured_once(place)


def change(place: Workplace, sql: str) -> None:

    with contextlib.closing(sqlite3.connect(place.store)) as store, store:
        store.execute(sql)


def test_a_full_disk(place: Workplace, source: Source) -> None:
    for i in range(3):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    watch(place, "--since", source.hashes[1])
    seen = {launch for (launch,) in place.query("SELECT id FROM launch")}
    # No file may grow beyond the size that the store has.
    blocks = place.store.stat().st_size // 1024
    limited = place.folder / "limited"
    limited.write_text(f'#!/bin/bash\ntrap "" XFSZ\nulimit -f {blocks}\nexec {BIN}/assay "$@"\n')
    limited.chmod(0o755)
    stopped = wait_for_end(place.start("watch", "toy.json", "--once", program=limited))
    assert stopped.code == 3, stopped
    assert "error" in stopped.err
    watch(place)
    assert seen <= {launch for (launch,) in place.query("SELECT id FROM launch")}
    assert {revision for _, revision, _ in points(place)} == set(source.hashes)
    assert_measured_once(place)


def test_a_kill_after_a_comparison(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    culprit = source.commit("conv: simplify", conv=112)
    watch(place)
    count = "SELECT count(*) FROM run WHERE purpose = 'verify'"
    before = place.query(count)
    # As if the watcher had died before it noted the outcome.
    change(
        place,
        "UPDATE incident SET state = 'verifying', document = json_set(document, "
        "'$.state', 'verifying', '$.culprit', '', '$.comparisons', json('[]'))",
    )
    watch(place)
    assert place.query(count) == before, "the pairs are not measured again"
    (found,) = incidents(place)
    assert (found["state"], found["culprit"]) == ("confirmed", culprit)
    assert len(found["comparisons"]) == 1


def test_a_proposed_change_beside_a_watcher(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    source.commit("conv: simplify", conv=112)
    watcher = place.start("watch", "toy.json", "--once", "--quiet")
    words = ("--base", "HEAD~1", "--head", "HEAD", "--format", "json")
    change = wait_for_end(place.start("watch", "toy.json", *words))
    watched = wait_for_end(watcher)
    assert watched.code == 0, watched
    assert change.code == 1, change
    assert [one["state"] for one in incidents(place)] == ["confirmed"]
    assert_measured_once(place)
