"""assay conform over the fake engine and a toolchain without torch: no verdict is wrong."""

import json
import os
import signal
import sqlite3
from pathlib import Path

import pytest
from driver import Document, Finished, Workplace, wait_until
from fleet_hosts import Cluster
from scripted_toolchain import FAULTS

RECIPE = "executorch/portable"
SCRIPT = Path(__file__).parent / "scripted_toolchain.py"


@pytest.fixture
def conform(place: Workplace) -> Workplace:
    """A workplace whose ExecuTorch is the fake engine, and whose Python is a script."""
    place.use_script_as_toolchain(SCRIPT)
    place.register_fake_as("executorch", "scripted", fmt="pte")
    return place


def run(place: Workplace, *flags: str) -> Finished:
    return place.run(
        *("conform", "--recipe", RECIPE, "--engine", "executorch@scripted", "--quiet"),
        *("--known", str(place.folder / "known"), "--format", "json", *flags),
    )


def verdicts_of(report: Document) -> dict[str, str]:
    return {result["operator_name"]: result["verdict"] for result in report["results"]}


EXPECTED = {
    "aten.good": "pass",
    "aten.left": "pass",
    **{f"aten.{fault}": "fail_numeric" for fault in FAULTS},
    "aten.refused": "unsupported",
    "aten.fragile": "crashed",
    "aten.unlowered": "aot_error",
    "aten.eager": "harness_error",
}


@pytest.mark.parametrize("batch", ["1", "4", "16"])
def test_every_case_gets_its_own_verdict_whatever_shares_its_program(
    conform: Workplace, batch: str
) -> None:
    finished = run(conform, "--batch", batch)
    assert finished.code == 1, finished
    report = finished.json()
    assert verdicts_of(report) == EXPECTED
    assert all(result["known"] == "new_failure" for result in report["results"][4:])
    assert all(result["delegation"] == "full" for result in report["results"][:3])
    assert report["results"][3]["delegation"] == "partial"
    joint = [result["is_joint"] for result in report["results"]]
    assert any(joint) == (batch != "1")


def test_the_lists_are_a_ratchet(conform: Workplace) -> None:
    assert (
        run(conform, "--update-known").code == 1
    )  # The model that fails in eager is ours to mend.
    path = conform.folder / "known" / "executorch-portable.json"
    gaps = json.loads(path.read_text())
    listed = {entry["case"]: entry["verdict"] for entry in gaps["expected_failures"]}
    assert listed["aten.fragile/float32/0"] == "crashed"
    assert "aten.eager/float32/0" not in listed
    report = run(conform).json()
    assert [r["name"] for r in report["results"] if r["known"] == "new_failure"] == [
        "aten.eager/float32/0"
    ]
    gaps["expected_failures"].append(
        {"case": "aten.good/float32/1", "verdict": "crashed", "reason": "it did once"}
    )
    path.write_text(json.dumps(gaps))
    stale = run(conform, "--only", "aten.good")
    assert stale.code == 1, stale
    assert [entry["entry"] for entry in stale.json()["stale"]] == ["aten.good/float32/1"]
    assert run(conform, "--only", "aten.good", "--update-known").code == 0
    assert run(conform, "--only", "aten.good").code == 0
    # Cases that were not run are still listed.
    assert "aten.fragile/float32/0" in path.read_text()


def test_coverage_is_a_table_and_runs_nothing(conform: Workplace) -> None:
    finished = conform.run("conform", "--coverage", "--format", "csv", "--quiet")
    assert finished.code == 0, finished
    assert finished.out.splitlines() == [
        "operator,cases,reason",
        "aten.none,0,nobody draws it",
        "aten.good,3,",
    ]


def test_too_many_cases_are_counted_before_anything_is_made(conform: Workplace) -> None:
    finished = run(conform, "--max-cases", "2")
    assert finished.code == 2
    assert "settings: 1) exceed the limit of 2; narrow them with --match" in finished.err


def test_a_list_with_a_slip_of_the_pen_says_where(conform: Workplace) -> None:
    folder = conform.folder / "known"
    folder.mkdir()
    document = {"schema": "assay/known_gaps/1", "recipe": RECIPE, "expected_failure": []}
    (folder / "executorch-portable.json").write_text(json.dumps(document))
    finished = run(conform)
    assert finished.code == 2, finished
    assert "did you mean 'expected_failures'?" in finished.err


def test_each_case_is_an_attempt_and_the_report_is_kept(conform: Workplace) -> None:
    first = run(conform).json()
    again = conform.run("report", first["run"]["id"], "--format", "json")
    assert again.code == 1, again
    assert verdicts_of(again.json()) == EXPECTED
    with sqlite3.connect(conform.store) as store:
        attempts = dict(store.execute("SELECT case_key, outcome FROM attempt").fetchall())
    for result in first["results"]:
        assert result["case_key"] in attempts, result["name"]
    second = run(conform).json()
    assert second["earlier_run"] == first["run"]["id"]
    assert second["changes"] == []


def test_nothing_that_matches_is_no_success(conform: Workplace) -> None:
    finished = run(conform, "--only", "no such case")
    assert finished.code == 5, finished


def test_the_plan_is_printed_and_nothing_runs(conform: Workplace) -> None:
    flags = ("--recipe", RECIPE, "--engine", "executorch@scripted", "--dry-run")
    finished = conform.run("conform", *flags)
    assert finished.code == 0, finished
    assert "14 cases, 14 results" in finished.out
    assert not list((conform.home / "cache").glob("*/*/manifest.json"))


def test_shards_share_the_cases(conform: Workplace) -> None:
    names = [
        result["name"]
        for shard in ("1/3", "2/3", "3/3")
        for result in run(conform, "--shard", shard).json()["results"]
    ]
    assert len(names) == len(set(names)) == 14


@pytest.mark.parametrize("suffix", ["html", "md", "csv", "xml", "jsonl"])
def test_every_format_is_written(conform: Workplace, suffix: str) -> None:
    target = conform.folder / f"report.{suffix}"
    run(conform, "--only", "aten.fragile", "--report", str(target))
    assert "aten.fragile" in target.read_text()


def test_a_recipe_that_cannot_even_add_is_unavailable(conform: Workplace) -> None:
    does = "echo no licence >&2; exit 3"
    conform.register_fake_as("executorch", "broken", fmt="pte", does=does)
    finished = conform.run(
        *("conform", "--recipe", RECIPE, "--engine", "executorch@broken", "--quiet"),
        *("--known", str(conform.folder / "known"), "--format", "json", "--update-known"),
    )
    assert finished.code == 3, finished
    report = finished.json()
    assert {result["verdict"] for result in report["results"]} == {"not_run"}
    assert report["joint_programs"] == report["alone_programs"] == 0
    assert "executorch/portable on executorch@broken is unavailable" in report["notes"][0]
    gaps = json.loads((conform.folder / "known" / "executorch-portable.json").read_text())
    assert gaps["expected_failures"] == []


def test_what_is_delegated_is_a_gate(conform: Workplace) -> None:
    left = run(conform, "--only", "aten.left", "--require-delegation", "full")
    assert left.code == 1, left
    (result,) = left.json()["results"]
    assert result["verdict"] == "fail_delegation"
    assert result["text"] == "delegation is partial, but full is required; left: aten.left.default"
    assert run(conform, "--only", "aten.left", "--require-delegation", "partial").code == 0
    folder = conform.folder / "known"
    folder.mkdir()
    entry = {"match": {"operator": "aten.left*"}, "reason": "left on order"}
    document = {"schema": "assay/known_gaps/1", "recipe": RECIPE, "undelegated": [entry]}
    (folder / "executorch-portable.json").write_text(json.dumps(document))
    excused = run(conform, "--only", "aten.left", "--require-delegation", "full")
    assert excused.code == 0, excused
    assert excused.json()["results"][0]["known"] == "unsupported"
    # Nobody asks, and nothing is said of it.
    assert run(conform, "--only", "aten.left").code == 0
    # A share of the cases says nothing of what a pattern means, all of them do.
    assert run(conform, "--only", "aten.left", "--require-delegation", "partial").code == 0
    stale = run(conform, "--tier", "full", "--require-delegation", "partial")
    assert [entry["entry"] for entry in stale.json()["stale"]] == ['{"operator":"aten.left*"}']


def test_a_pattern_that_fits_no_operator_is_told_before_a_toolchain_starts(
    place: Workplace,
) -> None:
    place.env["ASSAY_PYTHON"] = "/absent/python"
    finished = place.run("conform", "--match", "add")
    assert finished.code == 5, finished
    assert "no operator matches 'add'; did you mean aten.add." in finished.err
    assert "'aten.add*'" in finished.err


def test_a_reader_of_the_coverage_that_has_seen_enough_is_no_error(conform: Workplace) -> None:
    reading = conform.start("conform", "--coverage", "--quiet")
    assert reading.stdout is not None
    assert reading.stderr is not None
    reading.stdout.close()
    assert (reading.wait(timeout=60), reading.stderr.read()) == (0, "")
    reading.stderr.close()


@pytest.mark.slow
def test_a_fleet_judges_as_one_device_does(conform: Workplace) -> None:
    alone = run(conform).json()
    cluster = Cluster(conform)
    finished = run(conform, "--executor", "farm")
    assert finished.code == 1, finished
    report = finished.json()
    assert verdicts_of(report) == EXPECTED
    judged = [(one["name"], one["alone"], one["is_joint"]) for one in report["results"]]
    assert judged == [(one["name"], one["alone"], one["is_joint"]) for one in alone["results"]]
    devices = conform.query(
        "SELECT DISTINCT device FROM attempt WHERE run = ?", report["run"]["id"]
    )
    assert {device for (device,) in devices} <= {"d1", "d2"}
    # Each program was a job, and what did not pass was another one each time.
    submitted = len(cluster.submitted())
    counted = conform.query("SELECT count(*) FROM execution WHERE run = ?", report["run"]["id"])
    assert counted == [(submitted,)]
    assert submitted > report["joint_programs"]


@pytest.mark.slow
def test_a_driver_that_died_finds_the_verdicts_of_its_fleet(conform: Workplace) -> None:
    cluster = Cluster(conform)
    options = ("--recipe", RECIPE, "--engine", "executorch@scripted", "--batch", "1", "--quiet")
    known = ("--known", str(conform.folder / "known"))
    driver = conform.start("conform", *options, *known, "--executor", "farm")
    wait_until(lambda: len(cluster.submitted()) >= 4)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()
    before = len(cluster.submitted())
    finished = run(conform, "--resume", "latest", "--executor", "farm")
    assert verdicts_of(finished.json()) == EXPECTED
    listed = conform.ok("fleet", "executions", "latest:conform", "--json").json()["executions"]
    counted = [one["job"] for one in listed if one["is_counted"]]
    assert len(counted) == len(set(counted))
    # The job that it was about to submit when it died may have been submitted twice.
    assert len(listed) <= len(counted) + 1
    assert before < len(cluster.submitted()) <= len(counted) + 1
