"""Hosts of a fleet for tests: each has a home, a cache and a device lock of its own."""

import json
import os
import shutil
import signal
import stat
import subprocess
from pathlib import Path

from driver import BIN, Document, Workplace

ON_LAB = ("--executor", "lab", "--quiet", "--format", "json")

# Starts a command on the first host that is free, and prints an id, as sbatch does.
_SUBMIT = """#!/bin/sh
echo "$1" >> {folder}/submitted
setsid sh -c '
for n in 1 2 3 4 5 6 7 8 9; do
  for host in {hosts}; do
    exec 9> {folder}/$host.lock
    if flock -n 9; then break 2; fi
  done
  sleep 0.3
done
export HOST=$host
eval "$1"
' sh "$1" > {folder}/log-$$ 2>&1 9>&- &
echo "Submitted batch job"
echo "$!;cluster"
"""

# The `assay` of the scheduler's command line: on the host that was chosen.
_ON_HOST = """#!/bin/sh
export ASSAY_HOME={folder}/$HOST/home ASSAY_RUNTIME_DIR={folder}/$HOST/runtime
exec {assay} "$@" --name $HOST
"""


class Cluster:
    """A scheduler of shell scripts, and hosts with the fake engine."""

    def __init__(self, place: Workplace, hosts: tuple[str, ...] = ("d1", "d2")) -> None:
        self.place = place
        self.folder = place.folder / "cluster"
        self.shared = place.folder / "shared"
        self.hosts = hosts
        self.folder.mkdir()
        (self.shared / "devices").mkdir(parents=True)
        for host in hosts:
            (self.folder / host / "home").mkdir(parents=True)
            if (place.home / "engines").exists():  # The builds of the driver's machine.
                shutil.copytree(place.home / "engines", self.folder / host / "home" / "engines")
        names = {"folder": self.folder, "hosts": " ".join(hosts), "assay": BIN / "assay"}
        self.submit = self._script("submit", _SUBMIT.format(**names))
        self.assay = self._script("assay", _ON_HOST.format(**names))
        self.write_executor(
            {
                "kind": "command",
                "folder": str(self.shared),
                "submit": [str(self.submit), "{command}"],
                "poll": ["sh", "-c", "kill -0 {id} && echo RUNNING"],
                "cancel": ["kill", "-TERM", "--", "-{id}"],
                "poll_every": "300ms",
                "assay": str(self.assay),
            }
        )
        for host in hosts:
            out = self.shared / "devices" / f"{host}.json"
            self.on_host(host, "work", "--describe", "--out", str(out))

    def write_executor(self, entry: Document) -> None:
        """The only executor of the driver's devices.json, "farm"."""
        file = Path(self.place.env["XDG_CONFIG_HOME"]) / "assay" / "devices.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        document = {"schema": "assay/devices/1", "devices": [], "executors": {"farm": entry}}
        file.write_text(json.dumps(document), encoding="utf-8")

    def on_host(self, host: str, *arguments: str) -> None:
        """Runs `assay` there, to a good end."""
        env = {**self.place.env, "HOST": host}
        done = subprocess.run([self.assay, *arguments], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def submitted(self) -> list[str]:
        """The commands that the scheduler was given."""
        file = self.folder / "submitted"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def kill_jobs(self) -> int:
        """Kills every job of the scheduler with all its processes, as a host that loses power."""
        ids = [file.read_text(encoding="utf-8") for file in self.shared.glob("runs/*/*.id")]
        for one in ids:
            try:
                os.killpg(int(one), signal.SIGKILL)
            except ProcessLookupError:
                continue
        return len(ids)

    def _script(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path


class Workers:
    """Workers of an executor "lab", each on a host of its own with the fake engine."""

    def __init__(self, place: Workplace, entry: Document) -> None:
        self.place = place
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        file = Path(place.env["XDG_CONFIG_HOME"]) / "assay" / "devices.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        entry = {**entry, "artifacts": str(place.folder / "artifacts")}
        document = {"schema": "assay/devices/1", "executors": {"lab": entry}}
        file.write_text(json.dumps(document), encoding="utf-8")

    def start_worker(self, name: str) -> None:
        """A worker of this machine under a name."""
        env = {
            **self.place.env,
            "ASSAY_HOME": str(self.place.folder / name / "home"),
            "ASSAY_RUNTIME_DIR": str(self.place.folder / name / "runtime"),
        }
        command = [str(BIN / "assay"), "work", "--executor", "lab", "--name", name]
        with (self.place.folder / f"{name}.log").open("ab") as log:
            self._workers[name] = subprocess.Popen(
                command, env=env, stdout=log, stderr=log, start_new_session=True
            )

    def kill_worker(self, name: str) -> None:
        """All processes of its host at once."""
        process = self._workers.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop_worker(self, name: str) -> int:
        """Asks it to end, and returns its exit code."""
        process = self._workers.pop(name)
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=60)

    def status(self) -> Document:
        return self.place.ok("fleet", "status", "--executor", "lab", "--json").json()

    def state(self, device: str) -> str:
        states = {one["device"]: one["state"] for one in self.status()["devices"]}
        return str(states.get(device, "absent"))

    def waiting(self) -> tuple[int, int]:
        """Numbers of jobs that wait and that are executed."""
        runs = self.status()["runs"]
        return sum(run["waiting"] for run in runs), sum(run["executing"] for run in runs)

    def assert_each_counted_once(self, cases: int) -> None:
        """Each case of the latest run has one result."""
        assert len(self.place.report()["cases"]) == cases
        listed = self.place.ok("fleet", "executions", "latest", "--json").json()["executions"]
        counted = [one["job"] for one in listed if one["is_counted"]]
        assert len(counted) == len(set(counted)) == cases

    def close(self) -> None:
        for name in list(self._workers):
            self.kill_worker(name)


def some_programs(place: Workplace, count: int, **fields: object) -> list[Path]:
    """Programs of the fake engine, each a case of its own."""
    return [place.program(f"net{i}", execute_ns=1000 + i, **fields) for i in range(count)]
