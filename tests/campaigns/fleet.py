"""A fleet of three hosts under random faults: how many cases are lost, and how many count twice.

    python tests/campaigns/fleet.py --cases 500 [--kind ray] [--seed 1] [--faults 30] [--out FOLDER]

Each host has namespaces of its own for network and processes, a cable to this machine, where the
scheduler and the driver are, and a device with the fake engine. Until all cases have a result, or
so many faults were made, a random one comes every few seconds: kill -9 of a host, a worker, the
driver or the scheduler, or a cable that is out for a minute. Needs root, for the cables. It ends
with 1 if a case is lost or counts twice.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fleet_schedulers import SCHEDULERS, Scheduler

BIN = Path(os.environ.get("ASSAY_BIN_DIR", Path(__file__).parents[2] / "build/release/bin"))
PARTITION_S = 60
EVERY_S = (8.0, 20.0)


def write_devices(config: Path, entry: dict) -> None:
    """A devices.json with the executor "lab"."""
    file = config / "assay" / "devices.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"schema": "assay/devices/1", "executors": {"lab": entry}}))


class Host:
    """Namespaces with a worker in them."""

    def __init__(self, number: int, folder: Path, scheduler: Scheduler) -> None:
        self.name = f"host{number}"
        self._cable = f"fleet{number}"
        self._here = f"10.77.{number}.1"
        self._there = f"10.77.{number}.2"
        self._folder = folder / self.name
        self._folder.mkdir(parents=True)
        entry = {**scheduler.entry(self._here), "artifacts": str(folder / "artifacts")}
        write_devices(self._folder / "config", entry)
        self._scope: subprocess.Popen[bytes] | None = None
        self.worker: subprocess.Popen[bytes] | None = None

    def boot(self) -> None:
        """Makes the namespaces and the cable."""
        command = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
        self._scope = subprocess.Popen([*command, "sleep", "infinity"])
        while not self._first():
            time.sleep(0.05)
        peer = ["peer", "name", "eth0", "netns", str(self._first())]
        subprocess.run(["ip", "link", "add", self._cable, "type", "veth", *peer], check=True)
        subprocess.run(["ip", "addr", "add", f"{self._here}/24", "dev", self._cable], check=True)
        self.plug()
        script = f"ip link set lo up; ip addr add {self._there}/24 dev eth0; ip link set eth0 up; "
        script += f"ip route add default via {self._here}"
        subprocess.run([*self._inside(), "sh", "-c", script], check=True)

    def _first(self) -> int:
        assert self._scope is not None
        children = Path(f"/proc/{self._scope.pid}/task/{self._scope.pid}/children").read_text()
        return int(children.split()[0]) if children.split() else 0

    def _inside(self) -> list[str]:
        return ["nsenter", "--net", "--pid", "--mount", "--target", str(self._first())]

    def start_worker(self) -> None:
        env = {
            **os.environ,
            "ASSAY_HOME": str(self._folder / "home"),
            "XDG_CONFIG_HOME": str(self._folder / "config"),
            "ASSAY_RUNTIME_DIR": str(self._folder / "runtime"),
        }
        command = [str(BIN / "assay"), "work", "--executor", "lab", "--name", self.name]
        with (self._folder / "log").open("ab") as log:
            self.worker = subprocess.Popen(
                [*self._inside(), *command], env=env, stdout=log, stderr=log
            )

    def kill_worker(self) -> None:
        """Ends `assay work`, whose processes end with it."""
        assert self.worker is not None
        for pid in _family(self.worker.pid):
            _kill(pid)
        self.worker.wait()

    def kill(self) -> None:
        """Everything in the host ends at once, and its cable is gone."""
        assert self._scope is not None
        assert self.worker is not None
        _kill(self._first())
        self._scope.wait()
        self.worker.wait()
        subprocess.run(["ip", "link", "del", self._cable], check=False, capture_output=True)

    def unplug(self) -> None:
        subprocess.run(["ip", "link", "set", self._cable, "down"], check=True)

    def plug(self) -> None:
        subprocess.run(["ip", "link", "set", self._cable, "up"], check=False)


def _family(pid: int) -> list[int]:
    """A process and those below it, the youngest first."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [one for child in children for one in _family(int(child))] + [pid]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


class Driver:
    """`assay run`, started again whenever it dies."""

    def __init__(self, folder: Path, scheduler: Scheduler, spec: Path) -> None:
        entry = {**scheduler.entry("127.0.0.1"), "artifacts": str(folder / "artifacts")}
        write_devices(folder / "driver" / "config", entry)
        self.env = {
            **os.environ,
            "ASSAY_HOME": str(folder / "driver" / "home"),
            "XDG_CONFIG_HOME": str(folder / "driver" / "config"),
        }
        self._spec = spec
        self._log = folder / "driver" / "log"
        self.process: subprocess.Popen[bytes] | None = None
        self.has_run = False

    def start(self) -> None:
        what = ["--resume", "latest"] if self.has_run else [str(self._spec)]
        command = [str(BIN / "assay"), "run", *what, "--executor", "lab", "--quiet"]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--format", "json", "--out", os.devnull],
                env=self.env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def last_words(self) -> str:
        """The last line that it printed."""
        return self._log.read_text().strip().rpartition("\n")[2]

    def ask(self, *words: str) -> dict:
        command = [str(BIN / "assay"), *words]
        asked = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        return json.loads(asked.stdout) if asked.returncode in (0, 1, 5, 6) else {}


def write_spec(folder: Path, cases: int, case_s: float) -> Path:
    """Programs of the fake engine that take about as long as each other."""
    vector = {"dtype": "float32", "shape": [1, 4]}
    models = []
    for number in range(cases):
        file = folder / "programs" / f"net{number:03}.fake.json"
        file.parent.mkdir(exist_ok=True)
        program = {"inputs": [vector], "outputs": [vector], "execute_ns": 1000 + number}
        file.write_text(json.dumps({**program, "load_ns": int(case_s * 1e9)}))
        models.append({"ref": str(file)})
    measure = {"launches": 1, "warmup": 1, "iterations": 4, "time_budget": "2s"}
    spec = folder / "spec.json"
    document = {"schema": "assay/spec/1", "models": models, "engines": ["fake"], "max_cases": cases}
    spec.write_text(json.dumps({**document, "measure": {**measure, "passes": ["timing"]}}))
    return spec


class Faults:
    """Breaks one thing at a time, and mends it."""

    def __init__(self, hosts: list[Host], driver: Driver, scheduler: Scheduler, seed: int) -> None:
        self._hosts = hosts
        self._driver = driver
        self._scheduler = scheduler
        self._random = random.Random(seed)
        self.counts: collections.Counter[str] = collections.Counter()
        self.made: list[tuple[str, str, int]] = []
        """Kind, host and time of each; a fault of the driver or the scheduler has no host."""

    def break_something(self) -> None:
        kinds = ["host", "worker", "driver", "scheduler", "partition"]
        kind = self._random.choice(kinds)
        host = self._random.choice(self._hosts)
        self.counts[kind] += 1
        hit = host.name if kind in ("host", "worker", "partition") else ""
        self.made.append((kind, hit, time.time_ns()))
        print(f"fault: {kind} {hit}", flush=True)
        if kind == "host":
            host.kill()
            time.sleep(5)
            host.boot()
            host.start_worker()
        elif kind == "worker":
            host.kill_worker()
            host.start_worker()
        elif kind == "driver":
            self._driver.kill()
            self._driver.start()
        elif kind == "scheduler":
            self._scheduler.break_it()
        else:
            host.unplug()
            # Others break meanwhile.
            threading.Timer(PARTITION_S, host.plug).start()

    def wait(self) -> None:
        time.sleep(self._random.uniform(*EVERY_S))


def wait_for_hosts(hosts: list[Host], driver: Driver) -> None:
    """Returns when the workers of all hosts wait for jobs."""
    wanted = {host.name for host in hosts}
    idle: set[str] = set()
    while idle != wanted:
        time.sleep(0.5)
        status = driver.ask("fleet", "status", "--executor", "lab", "--json")
        idle = {one["device"] for one in status.get("devices", []) if one["state"] == "idle"}


def run_all(options: argparse.Namespace, folder: Path, scheduler: Scheduler) -> int:
    driver = Driver(folder, scheduler, write_spec(folder, options.cases, options.case_s))
    hosts = [Host(number, folder, scheduler) for number in (1, 2, 3)]
    for host in hosts:
        host.boot()
        host.start_worker()
    wait_for_hosts(hosts, driver)
    faults = Faults(hosts, driver, scheduler, options.seed)
    begin = time.monotonic()
    driver.start()
    assert driver.process is not None
    while not driver.ask("fleet", "status", "--executor", "lab", "--json").get("runs"):
        if driver.process.poll() is not None:
            sys.exit(f"the driver ended before its run began: {driver.last_words()}")
        time.sleep(0.2)
    driver.has_run = True
    while driver.process.poll() is None:
        if faults.counts.total() >= options.faults:
            time.sleep(0.2)
        else:
            faults.wait()
            if driver.process.poll() is None:
                faults.break_something()
    seconds = time.monotonic() - begin
    for host in hosts:
        host.plug()
    result = count_result(driver, options, seconds, faults)
    for host in hosts:
        host.kill()
    return result


def count_result(
    driver: Driver, options: argparse.Namespace, seconds: float, faults: Faults
) -> int:
    listed = driver.ask("fleet", "executions", "latest", "--json").get("executions", [])
    counted = [one["job"] for one in listed if one["is_counted"]]
    cases = driver.ask("report", "latest", "--format", "json").get("cases", [])
    lost = options.cases - len(set(counted))
    doubled = len(counted) - len(set(counted)) + max(0, len(cases) - options.cases)
    took = sum(one["finished_unix_ns"] - one["started_unix_ns"] for one in listed) / 1e9
    ideal = sum(
        one["finished_unix_ns"] - one["started_unix_ns"] for one in listed if one["is_counted"]
    )
    ideal_s = ideal / 1e9 / 3
    print(f"cases {options.cases}, in the report {len(cases)}, lost {lost}, doubled {doubled}")
    print(
        f"executions {len(listed)}, late {len(listed) - len(counted)}, faults {dict(faults.counts)}"
    )
    print(
        f"{seconds:.0f} s, ideal {ideal_s:.0f} s, efficiency {ideal_s / seconds:.0%}, {took:.0f} s"
    )
    print_recovery(faults, listed)
    return 1 if lost or doubled or len(cases) != options.cases else 0


def print_recovery(faults: Faults, executions: list[dict]) -> None:
    """How long after each fault work went on: the host began an execution that came to its end, or
    the driver took in a result.
    """
    waits: dict[str, list[float]] = collections.defaultdict(list)
    for kind, host, at_ns in faults.made:
        clock = "started_unix_ns" if host else "accepted_unix_ns"
        times = [one[clock] for one in executions if host in ("", one["device"])]
        after = [one for one in times if one > at_ns]
        if after:
            waits[kind].append((min(after) - at_ns) / 1e9)
    for kind, seconds in sorted(waits.items()):
        middle, most = statistics.median(seconds), max(seconds)
        print(f"until work goes on after {kind}: median {middle:.1f} s, at most {most:.1f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--case-s", type=float, default=1.0, help="time of a case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=sorted(SCHEDULERS), default="postgres")
    parser.add_argument("--faults", type=int, default=10**6, help="at most so many")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("needs root, to make cables between namespaces")
    folder = options.out or Path(tempfile.mkdtemp(prefix="assay-fleet-"))
    folder.mkdir(parents=True, exist_ok=True)
    with SCHEDULERS[options.kind](folder) as scheduler:
        return run_all(options, folder, scheduler)


if __name__ == "__main__":
    sys.exit(main())
