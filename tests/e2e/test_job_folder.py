"""A device that takes jobs from a folder: as good as others, and nothing it does is believed."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import BIN, FAST_MEASURE, ROOT, Workplace, assert_told, wait_for_end, wait_until
from programs import FACTORY

sys.path.insert(0, str(ROOT / "tools"))

import job_worker

CLASS = "linux-folder:test:2cpu"
ONCE = ("--launches", "1", "--iterations", "4", "--warmup", "1", "--quiet", "--format", "json")
QUICK = ("--heartbeat", "0.1", "--claimed-within", "2s", "--answered-within", "2s")

Answer = dict[str, object]


class Farm:
    """The folder of a workplace, and workers that serve it."""

    def __init__(self, place: Workplace) -> None:
        self.place = place
        self.root = place.folder / "farm"
        self.root.mkdir()
        self.device = f"folder:{self.root}"
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(
        self, *arguments: str, engine: str = "fake", runner: Path | None = None
    ) -> "subprocess.Popen[bytes]":
        """The worker of the tree, with a runner of this build or another one."""
        runner = runner or BIN / f"assay-runner-{engine}"
        command = [sys.executable, str(ROOT / "tools" / "job_worker.py"), str(self.root)]
        command += ["--runner", str(runner), "--class", CLASS, *arguments]
        process = subprocess.Popen(command, env=self.place.env)
        self._processes.append(process)
        wait_until(lambda: (self.root / "device.json").exists() or process.poll() is not None)
        return process

    @contextlib.contextmanager
    def served_by(self, kind: "type[job_worker.Worker]") -> Iterator[job_worker.Worker]:
        """A worker of ours in a thread."""
        worker = kind(self.root, [BIN / "assay-runner-fake"], 0.1)
        worker.describe(CLASS, "2s", "2s")
        over = threading.Event()
        thread = threading.Thread(
            target=job_worker.serve,
            args=(worker,),
            kwargs={"is_once": False, "ends": over.is_set},
            daemon=True,
        )
        thread.start()
        try:
            yield worker
        finally:
            over.set()
            thread.join()

    def left(self, part: str) -> list[str]:
        """Jobs or answers that lie in a part of the folder."""
        names = (path.name for path in (self.root / part).glob("*"))
        return sorted(name for name in names if not name.startswith("."))

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


@pytest.fixture
def farm(place: Workplace) -> Iterator[Farm]:
    farm = Farm(place)
    yield farm
    farm.close()


def test_is_added_checked_and_released(place: Workplace, farm: Farm) -> None:
    assert_told(place.run("device", "add", farm.device), 3, "no worker has described itself")
    farm.start()
    added = place.ok("device", "add", farm.device)
    assert f"farm  {CLASS}" in added.out
    assert "engine      fake@1" in added.out
    assert farm.device in place.ok("device", "list").out
    assert CLASS in place.ok("device", "check", "farm").out
    assert_told(place.run("device", "prepare", "farm"), 3, "its worker brings the engines")
    place.run("bench", place.program("net"), "--device", "farm", *ONCE)
    assert farm.left("blobs")
    place.ok("device", "release", "farm", "--forget")
    assert sorted(path.name for path in farm.root.iterdir()) == ["device.json"]


def test_measures_and_judges_there(place: Workplace, farm: Farm) -> None:
    farm.start()
    bench = place.run("bench", place.program("net"), "--device", farm.device, *ONCE)
    assert bench.code in (0, 6), bench
    report = bench.json()
    assert report["run"]["labels"]["device"] == farm.device
    assert report["environment"]["device_class"] == CLASS
    assert place.query("select distinct device, outcome from attempt") == [
        (farm.device, "completed")
    ]
    launches = len(place.launch_ids())
    assert launches == 2, "one for memory, one timed"

    spec = place.spec(place.program("other"), devices=[farm.device])
    ran = place.run("run", spec, "--quiet")
    assert ran.code in (0, 6), ran
    assert len(place.launch_ids()) == launches + 1
    assert [farm.left(part) for part in ("jobs", "claimed", "answers")] == [[], [], []]


def test_brings_each_file_once(place: Workplace, farm: Farm) -> None:
    farm.start()
    program = place.program("net")
    place.run("bench", program, "--device", farm.device, *ONCE)
    times = {path.name: path.stat().st_mtime_ns for path in (farm.root / "blobs").iterdir()}
    place.run("bench", program, "--device", farm.device, *ONCE)
    assert times == {path.name: path.stat().st_mtime_ns for path in (farm.root / "blobs").iterdir()}


def test_resumes_a_run_whose_host_was_killed(place: Workplace, farm: Farm) -> None:
    farm.start()
    slow = place.program("slow", execute_ns=20_000_000)
    spec = place.spec(slow, devices=[farm.device], measure={**FAST_MEASURE, "launches": 6})
    process = place.start("run", spec, "--quiet")
    wait_until(lambda: len(place.launch_ids()) >= 2)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    run = place.query("select id from run")[0][0]

    resumed = place.run("run", "--resume", run, "--quiet")

    assert resumed.code in (0, 6), resumed
    outcomes = place.query("select outcome, count(*) from launch group by 1")
    assert outcomes == [("completed", 6)]
    assert not farm.left("jobs"), "the job of the killed process is gone"


def test_worker_that_is_killed_and_started_again_loses_nothing(
    place: Workplace, farm: Farm
) -> None:
    worker = farm.start("--heartbeat", "1", "--claimed-within", "20s")
    slow = place.program("slow", execute_ns=50_000_000)
    spec = place.spec(slow, devices=[farm.device], measure={**FAST_MEASURE, "launches": 4})
    process = place.start("run", spec, "--quiet")
    wait_until(lambda: bool(place.launch_ids()) and bool(farm.left("claimed")))
    worker.kill()
    worker.wait()
    farm.start("--heartbeat", "1", "--claimed-within", "20s")

    ended = wait_for_end(process)

    assert ended.code in (0, 6), ended
    outcomes = place.query("select outcome, count(*) from launch group by 1")
    assert outcomes == [("completed", 4)]


def test_run_stops_when_no_worker_takes_jobs(place: Workplace, farm: Farm) -> None:
    farm.start(*QUICK, "--once").wait(20)
    bench = place.run("bench", place.program("net"), "--device", farm.device, *ONCE)
    assert_told(bench, 3, "no worker took a job within 2", "assay run --resume")
    assert not farm.left("jobs")


def test_worker_of_another_version_is_told(place: Workplace, farm: Farm) -> None:
    farm.start("--once").wait(20)
    file = farm.root / "device.json"
    file.write_text(file.read_text().replace("assay/job-device/1", "assay/job-device/2"))
    bench = place.run("bench", place.program("net"), "--device", farm.device, *ONCE)
    assert_told(bench, 3, "assay/job-device/2", "of one version")


class Garbage(job_worker.Worker):
    def hand_over(self, claimed: Path, answer: Path) -> None:
        (answer / "answer.json").write_text("\x00\x01 no JSON")
        super().hand_over(claimed, answer)


class HalfWritten(job_worker.Worker):
    def hand_over(self, claimed: Path, answer: Path) -> None:
        with (answer / "output").open("r+b") as output:
            output.truncate(40)
        super().hand_over(claimed, answer)


class Boastful(job_worker.Worker):
    def run(self, claimed: Path, work: Path, output: Path) -> Answer:
        told = super().run(claimed, work, output)
        told["end"]["wall_ns"] = 3_600_000_000_000
        return told


class OfAnotherProtocol(job_worker.Worker):
    def run(self, claimed: Path, work: Path, output: Path) -> Answer:
        raise job_worker.Refused("unsupported", "it reads assay/job/7, the job is assay/job/1")


class Twice(job_worker.Worker):
    """Answers, and when the host has taken that, answers again."""

    def hand_over(self, claimed: Path, answer: Path) -> None:
        place, copy = self.root / "answers" / claimed.name, answer.with_name(".again")
        shutil.copytree(answer, copy)
        super().hand_over(claimed, answer)
        wait_until(lambda: not place.exists())
        copy.rename(place)


def launch_after(farm: Farm, kind: type[job_worker.Worker]) -> tuple[object, ...]:
    """Outcome, reason and text of the timed launch that such a worker made."""
    place = farm.place
    spec = place.spec(place.program("net"), devices=[farm.device])
    with farm.served_by(kind):
        place.run("run", spec, "--quiet")
    ((outcome, reason, text),) = place.query("select outcome, reason_code, text from launch")
    return outcome, reason, text


@pytest.mark.parametrize(
    ("kind", "outcome", "reason", "words"),
    [
        (Garbage, "harness_error", "malformed_answer", "answer.json"),
        (HalfWritten, "harness_error", "malformed_answer", "whose digest it tells"),
        (Boastful, "harness_error", "malformed_answer", "said to have run for 3600 s"),
        (OfAnotherProtocol, "unsupported", "unsupported", "assay/job/7"),
        (Twice, "completed", "", ""),
    ],
)
def test_answer_is_not_believed(
    farm: Farm, kind: type[job_worker.Worker], outcome: str, reason: str, words: str
) -> None:
    told = launch_after(farm, kind)
    assert told[:2] == (outcome, reason), told
    assert words in str(told[2]), told


def test_runner_that_crashes_there_is_a_crash(place: Workplace, farm: Farm) -> None:
    farm.start()
    program = place.program("bad", misbehave={"at": "load", "do": "segfault"})
    place.run("run", place.spec(program, devices=[farm.device]), "--quiet")
    ((outcome, stage, reason),) = place.query("select outcome, stage, reason_code from launch")
    assert (outcome, stage, reason) == ("crashed", "load", "SIGSEGV")


def test_deadline_is_kept_there(place: Workplace, farm: Farm) -> None:
    farm.start()
    program = place.program("slow", misbehave={"at": "load", "do": "hang"})
    spec = place.spec(program, devices=[farm.device])
    place.run("run", spec, "--launch-timeout", "1s", "--quiet")
    ((outcome, reason),) = place.query("select outcome, reason_code from launch")
    assert (outcome, reason) == ("timed_out", "deadline")


def test_one_visit_of_the_worker_does_many_launches(place: Workplace, farm: Farm) -> None:
    farm.start("--once", "--claimed-within", "60s").wait(20)
    measure = {**FAST_MEASURE, "launches": 3, "passes": ["memory", "timing"]}
    programs = [place.program("a"), place.program("b")]
    process = place.start(
        "run", place.spec(*programs, devices=[farm.device], measure=measure), "--quiet"
    )
    for jobs in (2, 6):
        wait_until(lambda jobs=jobs: len(farm.left("jobs")) == jobs)
        farm.start("--once", "--claimed-within", "60s").wait(60)
    ended = wait_for_end(process)
    assert ended.code in (0, 6), ended
    outcomes = place.query("select outcome, count(*) from launch group by 1")
    assert outcomes == [("completed", 8)]
    assert [farm.left(part) for part in ("jobs", "claimed", "answers")] == [[], [], []]


class Dying(job_worker.Worker):
    """Takes a job and is gone."""

    def execute(self, claimed: Path) -> None:
        return


def test_worker_that_dies_in_the_middle_is_noticed(place: Workplace, farm: Farm) -> None:
    spec = place.spec(place.program("net"), devices=[farm.device])
    with farm.served_by(Dying):
        ended = place.run("run", spec, "--quiet")
    assert ended.code in (1, 3), ended
    ((outcome, reason, text),) = place.query("select outcome, reason_code, text from launch")
    assert (outcome, reason) == ("harness_error", "device_lost")
    assert "no sign of life" in text
    assert not farm.left("claimed")


def test_conditions_that_a_worker_does_not_make_are_refused(place: Workplace, farm: Farm) -> None:
    farm.start()
    cold = ("--scenario", "page_cache=cold")
    place.run("bench", place.program("net"), "--device", farm.device, *cold, *ONCE)
    timed = "select outcome, text from attempt where pass = 'timing'"
    ((outcome, text),) = place.query(timed)
    assert (outcome, text) == (
        "unsupported",
        "a cold page cache does not work through a folder of jobs",
    )


@pytest.mark.engine
@pytest.mark.skipif(not (BIN / "assay-runner-executorch").exists(), reason="not built")
def test_network_is_judged_there(place: Workplace, farm: Farm) -> None:
    farm.start(engine="executorch")
    (place.folder / "net.py").write_text(FACTORY)
    command = ("eval", "net.py:net", "--recipe", "executorch/xnnpack-fp32", "--quiet")
    judged = place.run(
        *command, "--device", farm.device, "--python", place.python, "--format", "json"
    )
    assert judged.code == 0, judged
    (case,) = judged.json()["cases"]
    assert case["verdict"] == "pass"
    assert [table["accuracy"] for table in case["accuracy_tables"]] == ["pass"]


APPLE_RUNNER = """#!{python}
import json, os, subprocess, sys

RUNNER = {runner!r}
if sys.argv[1:] == ["--describe"]:
    told = json.loads(subprocess.check_output([RUNNER, "--describe"]))
    for backend in told["backends"]:
        if backend["name"] == "CoreMLBackend":
            backend.update(is_available=True, reason="")
    print(json.dumps(told))
else:
    os.execv(RUNNER, [RUNNER, *sys.argv[1:]])
"""
"""A runner that claims to have Core ML, and refuses its programs as it has not."""


@pytest.mark.engine
@pytest.mark.skipif(not (BIN / "assay-runner-executorch").exists(), reason="not built")
def test_program_goes_where_its_backend_is(place: Workplace, farm: Farm) -> None:
    (place.folder / "net.py").write_text(FACTORY)
    command = ["eval", "net.py:net", "--recipe", "executorch/coreml-fp32", "--quiet"]
    command += ["--python", str(place.python), "--format", "json"]
    here = place.run(*command).json()
    (case,) = here["cases"]
    assert case["outcome"] == "skipped"
    assert "executorch@1.5.1 has no CoreMLBackend: it runs on Apple systems" in json.dumps(here)

    runner = place.folder / "assay-runner-executorch"
    runner.write_text(
        APPLE_RUNNER.format(python=sys.executable, runner=str(BIN / "assay-runner-executorch"))
    )
    runner.chmod(0o755)
    farm.start(runner=runner)
    there = place.run(*command, "--device", farm.device).json()
    (case,) = there["cases"]
    assert case["outcome"] == "load_error"
    assert "'CoreMLBackend', which is not registered" in json.dumps(there)
    assert any(b"CoreMLBackend" in blob.read_bytes() for blob in (farm.root / "blobs").iterdir())
