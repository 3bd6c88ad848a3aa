"""Stored runs as things: listed, shown, labelled, removed; two commands at once on one store."""

import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest
from driver import FAST_MEASURE, Document, Workplace, wait_for_end, wait_until

VERDICTS = ["pass", "fail", "inconclusive", "skipped"]  # On a busy machine a time may be unsteady.


def bench(place: Workplace, program: Path, *flags: str) -> str:
    """A short run; its id."""
    once = ["--launches", "1", "--iterations", "3", "--warmup", "1", "--quiet", "--format", "json"]
    finished = place.run("bench", program, *once, *flags)
    assert finished.code in (0, 1, 6), finished
    return finished.json()["run"]["id"]


def listed(place: Workplace, *flags: str) -> list[Document]:
    return place.ok("runs", *flags, "--format", "json").json()["runs"]


def ids(place: Workplace, *flags: str) -> list[str]:
    return [run["id"] for run in listed(place, *flags)]


@contextmanager
def under_way(place: Workplace) -> Iterator[Popen[str]]:
    """A run of many launches that has stored the first."""
    slow = place.program("slow", execute_ns=20_000_000)
    measure = {**FAST_MEASURE, "launches": 1000}
    before = place.launch_ids()
    process = place.start("run", place.spec(slow, name="slow-spec", measure=measure), "--quiet")
    wait_until(lambda: len(place.launch_ids()) > len(before))
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    wait_for_end(process)


def test_a_list_tells_what_each_run_was_and_found(place: Workplace) -> None:
    bad = place.program("bad", misbehave={"at": "steady", "do": "segfault"})
    first = bench(place, place.program("net"), "--label", "commit=abc")
    spec = place.spec(place.program("net"), bad)
    assert place.run("run", spec, "--quiet").code == 1
    text = place.ok("runs").out
    assert text == place.ok("list", "runs").out
    newest, oldest = text.splitlines()[-2:]
    counts = Counter(case["verdict"] for case in place.report()["cases"])
    assert counts["fail"] >= 1
    result = ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])
    assert re.search(rf" s +run +net.*bad.* {result}$", newest.rstrip()), text
    assert oldest.startswith(first[:13]), text
    verdict = place.report(first)["cases"][0]["verdict"]
    assert re.search(rf"bench +net.* 1 {verdict} +commit=abc", oldest), text
    newest_json, oldest_json = listed(place)
    assert newest_json["verdicts"] == dict(counts)
    assert (oldest_json["id"], oldest_json["state"]) == (first, "finished")
    assert oldest_json["labels"] == {"commit": "abc"}


def test_a_list_is_filtered(place: Workplace) -> None:
    net, other = place.program("net"), place.program("other")
    first = bench(place, net, "--label", "commit=abc")
    second = bench(place, other, "--label", "commit=def")
    assert place.run("run", place.spec(net), "--quiet").code == 0
    third = ids(place)[0]
    assert ids(place) == [third, second, first]
    assert ids(place, "--label", "commit=abc") == [first]
    assert ids(place, "--label", "commit") == [second, first]
    assert ids(place, "--purpose", "bench") == [second, first]
    assert ids(place, "--purpose", "run") == [third]
    assert ids(place, "--model", "OTHER") == [second]
    assert ids(place, "other", "def") == [second]
    assert ids(place, "other", "abc") == []
    assert ids(place, "--limit", "1") == [third]
    assert place.run("runs", "--label", "=x").code == 2


def test_no_store_is_an_empty_list_and_is_not_made(place: Workplace) -> None:
    assert place.ok("runs").out == ""
    assert place.run("runs", "rm", "latest").code == 2
    assert place.run("runs", "prune", "--keep", "1").code == 2
    assert not place.store.exists()


def test_a_run_is_shown_tagged_and_found_by_its_label(place: Workplace) -> None:
    net = place.program("net")
    first, second = bench(place, net), bench(place, net)
    assert place.ok("runs", "tag", first, "keep=yes", "commit=abc").out.endswith(
        f"{first}  commit=abc keep=yes\n"
    )
    shown = place.ok("runs", "show", "label:commit=abc").out
    assert re.search(rf"run +{first}\n", shown), shown
    assert "assay bench" in re.sub(r"\S*/assay", "assay", shown), shown
    assert re.search(r"holds +1 case, \d+ launch", shown), shown
    verdict = place.report(first)["cases"][0]["verdict"]
    assert f"1 {verdict}" in shown, shown
    assert place.report("label:keep")["run"]["id"] == first
    assert place.report("latest")["run"]["id"] == second
    place.ok("runs", "tag", first, "--remove", "keep")
    absent = place.run("report", "label:keep")
    assert absent.code == 2, absent
    assert "no run has the label keep" in absent.err
    for wrong in (["first"], []):
        assert place.run("runs", "tag", first, *wrong).code == 2


def test_bare_ids_are_compared_as_runs(place: Workplace) -> None:
    net = place.program("net")
    first, second = bench(place, net, "--label", "side=a"), bench(place, net)
    by_prefix = place.ok("compare", f"run:{first}", f"run:{second}", "--format", "json")
    for a, b in [(first, second), ("label:side=a", "latest"), (first[:18], f"run:{second}")]:
        assert place.ok("compare", a, b, "--format", "json").out == by_prefix.out
    alone = place.run("compare", first)
    assert alone.code == 2, alone
    assert "RUN_A RUN_B" in alone.err
    assert place.run("compare", first, str(net)).code == 2


def test_removing_a_run_changes_no_report_of_another(place: Workplace) -> None:
    net, other = place.program("net"), place.program("other")
    runs = [bench(place, one) for one in (net, other, net)]
    before = {run: place.report(run) for run in runs}

    dry = place.ok("runs", "rm", runs[0], "--dry-run")
    assert f"would remove {runs[0]}" in dry.out
    assert len(ids(place)) == 3
    removed = place.ok("runs", "rm", runs[0], runs[0])

    assert re.search(rf"removed {runs[0]}  bench  net.*  \d", removed.out), removed
    assert "1 run removed; the room is used again, and assay store vacuum" in removed.out
    assert ids(place) == [runs[2], runs[1]]
    for run in runs[1:]:
        assert place.report(run) == before[run]
    assert place.run("report", runs[0]).code == 2
    gone = place.run("runs", "rm", runs[1], runs[0])
    assert gone.code == 2, gone
    assert ids(place) == [runs[2], runs[1]], "all or none"


def test_pruning_keeps_the_newest(place: Workplace) -> None:
    net = place.program("net")
    runs = [bench(place, net) for _ in range(4)]
    unsaid = place.run("runs", "prune")
    assert unsaid.code == 2, unsaid
    assert "--keep 20" in unsaid.err
    dry = place.ok("runs", "prune", "--keep", "2", "--dry-run")
    assert dry.out.splitlines()[-1] == "2 runs would be removed"
    assert "nothing to remove" in place.ok("runs", "prune", "--older-than", "1d").out
    assert len(ids(place)) == 4
    pruned = place.ok("runs", "prune", "--keep", "2")
    assert "2 runs removed" in pruned.out
    assert ids(place) == [runs[3], runs[2]]
    place.ok("runs", "tag", runs[3], "night=no")
    place.ok("runs", "prune", "--keep", "0", "--label", "night=no")
    assert ids(place) == [runs[2]]


def test_a_run_under_way_is_shown_and_not_removed(place: Workplace) -> None:
    done = bench(place, place.program("net"))
    with under_way(place) as process:
        running = listed(place)[0]
        assert running["state"] == "running"
        assert "running" in place.ok("runs").out
        assert place.report(running["id"])["run"]["id"] == running["id"]
        refused = place.run("runs", "rm", done, running["id"])
        assert refused.code == 3, refused
        assert f"run {running['id']} is in use" in refused.err
        assert done in ids(place), "all or none"
        pruned = place.ok("runs", "prune", "--keep", "0")
        assert f"removed {done}" in pruned.out, pruned
        assert ids(place) == [running["id"]]
        launches = len(place.launch_ids())
        wait_until(lambda: len(place.launch_ids()) > launches)
        assert process.poll() is None


def test_a_killed_run_is_stopped_and_can_be_removed(place: Workplace) -> None:
    with under_way(place) as process:
        process.kill()
        process.wait()
    stopped = listed(place)[0]
    assert stopped["state"] == "stopped"
    place.ok("runs", "rm", stopped["id"])
    assert ids(place) == []
    assert place.query("select count(*) from launch") == [(0,)]


def test_two_merges_at_once_take_every_row_once(place: Workplace) -> None:
    stores = [place.folder / f"{name}.db" for name in ("a", "b")]
    net = place.program("net")
    theirs = [bench(place, net, "--store", str(store)) for store in stores for _ in range(3)]
    before = [
        place.run("report", run, "--store", stores[i // 3], "--format", "json").out
        for i, run in enumerate(theirs)
    ]
    bench(place, net)
    merges = [place.start("merge", *order) for order in (stores, stores[::-1])]
    for merge in merges:
        finished = wait_for_end(merge)
        assert finished.code == 0, finished
    assert set(theirs) < set(ids(place))
    assert len(ids(place)) == 7
    assert [place.run("report", run, "--format", "json").out for run in theirs] == before


@pytest.mark.parametrize("verb", ["rm", "prune"])
def test_two_removals_at_once_remove_each_run_once(place: Workplace, verb: str) -> None:
    net = place.program("net")
    runs = [bench(place, net) for _ in range(3)]
    flags = {"rm": runs[:2], "prune": ["--keep", "1"]}[verb]
    removals = [place.start("runs", verb, *flags) for _ in range(2)]
    ends = [wait_for_end(removal) for removal in removals]
    assert {end.code for end in ends} <= ({0} if verb == "prune" else {0, 2, 3}), ends
    assert ids(place) == [runs[2]]
    assert sum(end.out.count("removed 0") for end in ends) == 2
