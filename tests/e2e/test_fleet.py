"""Runs on a fleet: every case once, whoever dies, and each part counted once."""

import json
import os
import shutil
import signal
import sqlite3
import time
from pathlib import Path

import pytest
from driver import Document, Workplace, assert_told, wait_for_end, wait_until
from fleet_hosts import Cluster, some_programs

pytestmark = pytest.mark.slow

ON_FARM = ("--executor", "farm", "--quiet", "--format", "json")
QUICK = (*ON_FARM, "--most-pairs", "10", "--iterations", "3", "--warmup", "1")
MILLISECOND = 1_000_000


@pytest.fixture
def cluster(place: Workplace) -> Cluster:
    return Cluster(place)


def two_sides(place: Workplace) -> list[Path]:
    """Programs of which the second takes twice the time of the first."""
    return [
        place.program("old", execute_ns=MILLISECOND),
        place.program("new", execute_ns=2 * MILLISECOND),
    ]


def devices_of(report: Document) -> list[str]:
    return sorted(case["device"] for case in report["cases"])


def test_runs_each_case_on_one_device_and_resumes_nothing(cluster: Cluster) -> None:
    place = cluster.place
    spec = place.spec(*some_programs(place, 4))
    report = place.ok("run", spec, *ON_FARM).json()
    assert len(report["cases"]) == 4
    assert set(devices_of(report)) <= {"d1", "d2"}
    assert len(cluster.submitted()) == 4
    executions = json.loads(place.ok("fleet", "executions", "latest", "--json").out)
    assert [one["is_counted"] for one in executions["executions"]] == [True] * 4
    # The program was read on the host, from what came by its digest.
    assert list((cluster.folder / "d1" / "home" / "cache").rglob("net*.fake.json"))
    assert not list(cluster.shared.glob("runs/*/*.db"))
    again = place.ok("run", "--resume", "latest", *ON_FARM)
    assert "already finished" in again.err
    assert len(cluster.submitted()) == 4


def test_a_fleet_without_workers_says_how_to_start_one(place: Workplace) -> None:
    Cluster(place, hosts=())
    told = place.ok("fleet", "status", "--executor", "farm").out
    assert "no device has described itself" in told, told
    assert "assay work --executor farm" in told, told
    assert "heartbeat" not in told, told


def test_tries_again_what_a_host_took_with_it(cluster: Cluster) -> None:
    place = cluster.place
    spec = place.spec(*some_programs(place, 2, load_ns=4_000_000_000))
    driver = place.start("run", spec, *ON_FARM)
    wait_until(lambda: len(list(cluster.shared.glob("runs/*/*.id"))) == 2)
    assert cluster.kill_jobs() == 2
    finished = wait_for_end(driver)
    assert finished.code == 0, finished
    assert len(finished.json()["cases"]) == 2
    tries = place.query("SELECT n FROM execution ORDER BY n")
    assert tries == [(1,), (1,)]


def test_a_run_whose_tries_were_all_lost_goes_on(cluster: Cluster) -> None:
    place = cluster.place
    works = cluster.submit.read_text(encoding="utf-8")
    cluster.submit.write_text("#!/bin/sh\necho 999999\n", encoding="utf-8")  # No node is there.
    spec = place.spec(*some_programs(place, 1))
    lost = place.run("run", spec, *ON_FARM)
    assert lost.code == 3, lost
    assert "has no result" in lost.err
    assert "assay run --resume" in lost.err
    told = place.run("report", "latest")
    assert told.code == 6, told
    assert "? unfinished" in told.out
    cluster.submit.write_text(works, encoding="utf-8")
    report = place.ok("run", "--resume", "latest", *ON_FARM).json()
    (case,) = report["cases"]
    assert len([note for note in case["notes"] if "was lost while" in note]) == 3
    assert place.query("SELECT n FROM execution") == [(3,)]


def test_a_driver_that_dies_is_followed_by_another(cluster: Cluster) -> None:
    place = cluster.place
    spec = place.spec(*some_programs(place, 4, load_ns=500_000_000))
    driver = place.start("run", spec, *ON_FARM)
    wait_until(lambda: len(list(cluster.shared.glob("runs/*/*.id"))) == 4)
    time.sleep(0.5)  # The last job leaves the process group of its submission.
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()
    # The hosts go on without it.
    wait_until(lambda: len(list(cluster.shared.glob("runs/*/*.db"))) == 4, timeout_s=60)
    report = place.ok("run", "--resume", "latest", *ON_FARM).json()
    assert len(report["cases"]) == 4
    assert len(cluster.submitted()) == 4
    assert place.query("SELECT count(DISTINCT job), count(*) FROM execution") == [(4, 4)]


def test_a_part_that_comes_late_is_kept_and_not_counted(cluster: Cluster) -> None:
    place = cluster.place
    spec = place.spec(*some_programs(place, 1))
    before = place.ok("run", spec, *ON_FARM).json()
    job = next(cluster.shared.glob("runs/*/*-0.json"))
    cluster.on_host("d2", "work", "--job", str(job), "--out", str(place.folder / "late.db"))
    place.ok("merge", place.folder / "late.db")
    assert place.query("SELECT count(*) FROM execution") == [(2,)]
    after = place.report()
    assert [case["case_key"] for case in after["cases"]] == [
        case["case_key"] for case in before["cases"]
    ]
    assert devices_of(after) == devices_of(before)
    told = place.ok("fleet", "executions", "latest").out
    assert told.count("counted") == 1
    assert told.count("late, kept") == 1


def test_a_device_compares_both_sides(cluster: Cluster) -> None:
    place = cluster.place
    compared = place.run("compare", *two_sides(place), *QUICK)
    assert compared.code == 1, compared
    answer = compared.json()
    assert (answer["verdict"], answer["is_confirmed"]) == ("slower", True)
    assert len(cluster.submitted()) == 1
    devices = place.query("SELECT DISTINCT device, worker FROM attempt")
    assert len(devices) == 1, devices
    assert devices[0][0] in {"d1", "d2"}
    (shown,) = place.report()["comparisons"]
    assert shown["comparison"]["verdict"] == "slower"
    assert len(shown["pairs"]) >= 30


def test_a_driver_that_dies_leaves_a_comparison_to_its_device(cluster: Cluster) -> None:
    place = cluster.place
    driver = place.start("compare", *two_sides(place), *QUICK)
    wait_until(lambda: len(list(cluster.shared.glob("runs/*/*.id"))) == 1)
    time.sleep(0.5)  # The job leaves the process group of its submission.
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()
    resumed = place.run("compare", "--resume", "latest", "--quiet", "--format", "json")
    assert resumed.code == 1, resumed
    assert resumed.json()["verdict"] == "slower"
    assert len(cluster.submitted()) == 1
    again = place.run("compare", "--resume", "latest", "--quiet")
    assert_told(again, 2, "is already finished: B takes ")


def test_says_which_classes_there_are(cluster: Cluster) -> None:
    place = cluster.place
    spec = place.spec(*some_programs(place, 1))
    refused = place.run("run", spec, *ON_FARM, "--device", "class:phone")
    assert_told(refused, 2, "no device of the fleet is of 'class:phone'", "class:linux")
    refused = place.run("run", spec, *ON_FARM, "--device", "d3")
    assert_told(refused, 2, "d1, d2")
    refused = place.run("run", spec, "--executor", "fram", "--quiet")
    assert_told(refused, 2, "no executor 'fram'", "farm")


def test_a_job_for_another_device_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    place = cluster.place
    spec = place.spec(*some_programs(place, 1))
    place.ok("run", spec, *ON_FARM, "--device", "d1")
    job = next(cluster.shared.glob("runs/*/*-0.json"))
    refused = place.run("work", "--job", job, "--out", tmp_path / "x.db", "--name", "d2")
    assert_told(refused, 3, "is for device 'd1', this is 'd2'")
    document = json.loads(job.read_text(encoding="utf-8"))
    document["artifact_store"] = str(tmp_path / "empty")
    job.write_text(json.dumps(document), encoding="utf-8")
    shutil.rmtree(place.home / "cache", ignore_errors=True)
    refused = place.run("work", "--job", job, "--out", tmp_path / "x.db", "--name", "d1")
    assert_told(refused, 2, "artifact store")
    assert not (tmp_path / "x.db").exists()


def test_a_canary_tells_a_device_from_a_case(cluster: Cluster, tmp_path: Path) -> None:
    place = cluster.place
    crash = {"at": "steady", "do": "segfault"}
    place.run("run", place.spec(place.program("case", misbehave=crash)), *ON_FARM)
    job = next(cluster.shared.glob("runs/*/*-0.json"))
    device = json.loads(job.read_text(encoding="utf-8"))["device"]["name"] or "d1"
    part = tmp_path / "part.db"
    work = ("work", "--job", job, "--out", part, "--name", device, "--canary")
    ill = place.run(*work, place.program("ill", misbehave=crash))
    assert_told(ill, 3, f"device '{device}' fails its canary", "crashed")
    assert not part.exists(), "another device executes the case"
    well = place.program("well")
    place.ok(*work, well)
    assert part.exists(), "it is the case that crashes"

    describe = ("work", "--describe", "--ready", "--name", device, "--canary")
    place.ok(*describe, well)
    assert_told(place.run(*describe, tmp_path / "absent.onnx"), 3, "fails its canary")


def test_status_and_cancel(cluster: Cluster) -> None:
    place = cluster.place
    spec = place.spec(*some_programs(place, 2, load_ns=3_000_000_000))
    driver = place.start("run", spec, *ON_FARM)
    wait_until(lambda: len(list(cluster.shared.glob("runs/*/*.id"))) == 2)
    status = json.loads(place.ok("fleet", "status", "--executor", "farm", "--json").out)
    assert [one["device"] for one in status["devices"]] == ["d1", "d2"]
    assert status["runs"][0]["waiting"] == 2
    driver.send_signal(signal.SIGINT)
    stopped = wait_for_end(driver)
    assert_told(stopped, 130, "the fleet goes on with 2 cases", "assay fleet cancel")
    cancelled = place.ok("fleet", "cancel", "latest", "--executor", "farm")
    assert "2 jobs" in cancelled.out
    assert "no jobs wait" in place.ok("fleet", "status", "--executor", "farm").out


def test_parts_merge_in_any_order(cluster: Cluster) -> None:
    place = cluster.place
    spec = place.spec(*some_programs(place, 1))
    place.ok("run", spec, *ON_FARM)
    job = next(cluster.shared.glob("runs/*/*-0.json"))
    parts = []
    for host in cluster.hosts:
        parts.append(place.folder / f"{host}.db")
        cluster.on_host(host, "work", "--job", str(job), "--out", str(parts[-1]))
    counted = []
    for order in (parts, parts[::-1]):
        store = place.folder / f"merged-{len(counted)}.db"
        place.ok("merge", *order, "--store", store)
        report = place.run("report", "latest", "--store", store, "--format", "json")
        assert report.code == 6, "parts alone have no end of the run"
        counted.append(devices_of(report.json()))
        with sqlite3.connect(store) as database:
            assert database.execute("SELECT count(*) FROM execution").fetchone() == (2,)
    assert counted[0] == counted[1] == ["d1"]
