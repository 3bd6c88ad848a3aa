"""Files that commands leave: a cache with a limit, temporary folders that go with their process."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from driver import FAST_MEASURE, Workplace, wait_for_end, wait_until


def fill(place: Workplace, name: str, kilobytes: int, hours_ago: int) -> Path:
    """An entry of the cache that was used so long ago."""
    folder = place.home / "cache" / name[:2] / name
    folder.mkdir(parents=True)
    (folder / "program.pte").write_bytes(bytes(kilobytes * 1000))
    then = folder.stat().st_mtime - hours_ago * 3600
    os.utime(folder, (then, then))
    return folder


def test_the_cache_is_shown_and_pruned_oldest_first(place: Workplace) -> None:
    old, new = fill(place, "aa1", 600, 5), fill(place, "bb2", 500, 1)
    shown = place.ok("cache", "--format", "json").json()
    assert shown["schema"] == "assay/cache/1"
    assert (shown["entries"], shown["bytes"]) == (2, 1_100_000)
    assert shown["limit_bytes"] == 10_000_000_000
    assert str(place.home / "cache") in [one["path"] for one in shown["places"]]
    text = place.ok("cache").out
    assert "2 entries, 1.10 MB" in text, text
    assert "the oldest was used 5 h ago" in text, text
    assert "removed 0 entries" in place.ok("cache", "prune").out
    dry = place.ok("cache", "prune", "--to", "800kB", "--dry-run").out
    assert dry == "would remove 1 entry, 600 kB; 500 kB would be left\n"
    assert old.exists()
    place.env["ASSAY_CACHE_LIMIT"] = "800kB"
    assert place.ok("cache", "prune").out == "removed 1 entry, 600 kB; 500 kB left\n"
    assert (old.exists(), new.exists()) == (False, True)
    place.ok("cache", "prune", "--to", "0")
    assert not new.exists()


def test_a_wrong_limit_is_a_wrong_request(place: Workplace) -> None:
    place.env["ASSAY_CACHE_LIMIT"] = "plenty"
    refused = place.run("cache")
    assert refused.code == 2, refused
    assert "ASSAY_CACHE_LIMIT: 'plenty' is not a size" in refused.err


def test_doctor_tells_every_place(place: Workplace) -> None:
    told = place.run("doctor", "--python", "/nowhere/python").out
    for text in (str(place.store), str(place.home / "cache"), "blobs", "docs/reference/files.md"):
        assert text in told, told


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_folders_of_a_killed_command_go_with_the_next(
    place: Workplace, sign: signal.Signals
) -> None:
    temporary = Path(place.env["TMPDIR"])
    foreign = temporary / "assay-notes"
    foreign.mkdir()
    slow = place.program("slow", execute_ns=20_000_000)
    measure = {**FAST_MEASURE, "launches": 1000}
    process = place.start("run", place.spec(slow, measure=measure), "--quiet")
    wait_until(lambda: bool(place.launch_ids()))
    used = set(temporary.iterdir())
    assert len(used) > 1, "a run has folders"
    place.ok("list", "metrics")
    mine = {folder for folder in used if folder.name.startswith("assay-jobs.")}
    assert mine, "or the test looks at nothing"
    assert mine <= set(temporary.iterdir()), "those in use stay"
    os.killpg(process.pid, sign)
    wait_for_end(process)
    wait_until(lambda: not place.processes())
    if sign == signal.SIGKILL:
        assert mine <= set(temporary.iterdir()), "or there is nothing to remove"
    place.ok("list", "metrics")
    assert set(temporary.iterdir()) == {foreign}
    shutil.rmtree(foreign)
