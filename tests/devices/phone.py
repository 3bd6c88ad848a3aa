"""A phone for tests: a device that the real adb reaches, without hardware.

    with Phone(folder) as phone:
        subprocess.run(["adb", "-s", phone.serial, "shell", "getprop"], env=phone.environment)

Its root looks like Android's: 64-bit Arm under qemu, /system/bin, /data/local/tmp, and no /lib,
/etc or /tmp. It is plugged in to an adb server of its own, as by USB: it is listed while it is
plugged in, and again when somebody has killed the server. Commands run as root of the phone, not
as Android's user `shell`.

    python tests/devices/phone.py --shell

starts one for trying things by hand.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import arm64
from adb_device import AdbDevice
from adb_server import AdbServer
from adb_shell import run_framed, run_raw
from adb_sync import serve_sync
from adb_wire import Stream
from android import Answers
from device import Device
from namespaces import Disk, NoDevice, Scope, find_processes, kill_processes
from sensors import Sensors

HERE = Path(__file__).resolve().parent
FEATURES = "shell_v2,cmd,stat_v2,fixed_push_mkdir"
ENVIRONMENT = {
    "PATH": "/system/bin",
    "HOME": "/",
    "USER": "shell",
    "SHELL": "/system/bin/sh",
    "ANDROID_ROOT": "/system",
    "ANDROID_DATA": "/data",
    **arm64.ENVIRONMENT,
}
PLUG_PERIOD_S = 0.1


class Phone(Device):
    """A phone that is plugged in between __enter__ and __exit__.

    serial: its name for adb. environment: variables with which adb finds its server; the whole
    environment of this process with them added. answers: what getprop and dumpsys say there.
    tmp: its /data/local/tmp, as seen from here. sensors: its temperatures, frequencies and
    battery below /sys, if it has its own and not this machine's.
    """

    sensors: Sensors

    def __init__(self, folder: Path, *, has_sensors: bool = False) -> None:
        self._has_sensors = has_sensors
        self.folder = folder.resolve()
        self._is_over = threading.Event()

    def __enter__(self) -> "Phone":
        self.folder.mkdir(exist_ok=True)
        with contextlib.ExitStack() as stack:
            self._scope = stack.enter_context(contextlib.closing(Scope()))
            self._server = AdbServer(self.folder, self._scope)
            self.environment = {**os.environ, **self._server.environment}
            self._device = AdbDevice(self._make_banner, self._serve)
            stack.callback(self._device.close)
            self.serial = f"127.0.0.1:{self._device.port}"
            self._prepare()
            self._start()
            stack.callback(self._server.stop)
            self._server.start()
            self._lister = threading.Thread(target=self._keep_listed, daemon=True)
            self._lister.start()
            stack.callback(self._stop_listing)
            self.plug_in()
            self._stack = stack.pop_all()
        return self

    def close(self) -> None:
        """Ends the board and all processes on it."""
        self._stack.close()
        self._process.wait()

    @property
    def tmp(self) -> Path:
        """Files of its /data/local/tmp, as seen from here."""
        return self._disk.path

    def adb(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Runs adb for this phone."""
        command = ["adb", "-s", self.serial, *words]
        return subprocess.run(command, env=self.environment, input=stdin, capture_output=True)

    def plug_in(self) -> None:
        """Plugs the cable in; returns when adb lists the phone."""
        self._device.is_plugged_in = True
        self._wait_for_state("unauthorized" if self._device.is_unauthorized else "device")

    def unplug(self) -> None:
        """Pulls the cable; returns when adb no longer lists the phone."""
        self._device.is_plugged_in = False
        self._device.drop()
        self._server.ask(f"host:disconnect:{self.serial}")
        self._wait_for_state("")

    def go_silent(self, is_silent: bool = True) -> None:
        """Lets what the host sends arrive no more, and nobody is told; or lets it arrive again."""
        self._device.go_silent(is_silent)

    def set_unauthorized(self, is_unauthorized: bool) -> None:
        """Makes the phone distrust this host's key, as before somebody confirms it, or trust it."""
        if is_unauthorized:
            self.unplug()
            self._device.is_unauthorized = True
            self.plug_in()
        else:
            self._device.trust()
            self._wait_for_state("device")

    def reboot(self, down_s: float = 0.5) -> None:
        """Ends everything there and starts it again: another boot id, the same files."""
        self.unplug()
        os.kill(self._pid, signal.SIGKILL)
        self._process.wait()
        time.sleep(down_s)
        self._start()
        self.plug_in()

    def kill_agent(self) -> int:
        """Kills what runs there under a name that begins with assay-agent; returns how many."""
        return kill_processes(self.processes("assay-agent"))

    def processes(self, program: str) -> list[int]:
        """Processes of the phone, by their ids here, whose program's name begins so."""
        return find_processes(self._pid, program)

    def fill_disk(self) -> None:
        """Leaves no room in /data/local/tmp."""
        self._disk.fill()

    def free_disk(self) -> None:
        """Gives the room back."""
        self._disk.free()

    def _prepare(self) -> None:
        system = self.folder / "system"
        system.mkdir()
        arm64.register(self._scope, self.folder)
        arm64.install_busybox(system / "bin", "/system/bin/bb")
        self.answers = Answers(system)
        if self._has_sensors:
            self.sensors = Sensors(self.folder / "sensors")
        self._disk = Disk(self._scope, self.folder / "tmp", mode="771")

    def _start(self) -> None:
        (self.folder / "boot_id").write_text(f"{uuid.uuid4()}\n")
        self._process, self._pid = self._scope.start(
            HERE / "phone_root.sh", str(self.folder), log=self.folder / "log"
        )

    def _stop_listing(self) -> None:
        self._is_over.set()
        self._lister.join()

    def _wait_for_state(self, state: str, timeout_s: float = 10) -> None:
        end = time.monotonic() + timeout_s
        while self._server.find_state(self.serial) not in (state, None):
            if time.monotonic() > end:
                raise NoDevice(f"adb does not come to list the phone as '{state}'")
            time.sleep(0.01)

    def _keep_listed(self) -> None:
        """Does for the server what it does by itself for USB: finds the phone when it is there."""
        while not self._is_over.wait(PLUG_PERIOD_S):
            state = self._server.find_state(self.serial)
            is_wanted = self._device.is_plugged_in
            # A connection is listed as "offline" until it is greeted.
            if state and (not is_wanted or (state == "offline" and not self._device.is_connected)):
                self._server.ask(f"host:disconnect:{self.serial}")
            elif state == "" and is_wanted and not self._device.is_connected:
                self._server.ask(f"host:connect:{self.serial}")

    def _make_banner(self) -> str:
        names = ("ro.product.name", "ro.product.model", "ro.product.device")
        facts = [f"{name}={self.answers.get_property(name)}" for name in names]
        return f"device::{';'.join(facts)};features={FEATURES}"

    def _serve(self, service: str, stream: Stream) -> None:
        name, _, rest = service.partition(":")
        with contextlib.suppress(EOFError, ConnectionError):
            if name.startswith("shell,v2"):
                run_framed(self._run(rest), stream)
            elif name in ("exec", "shell") or name.startswith("shell,"):
                run_raw(self._run(rest, joins_errors=True), stream)
            elif name == "sync":
                serve_sync(Path(f"/proc/{self._pid}/root"), stream)
            elif name == "root":
                self._become_root(stream)
        stream.close()
        if name == "reboot":
            self.reboot()

    def _become_root(self, stream: Stream) -> None:
        if self.answers.get_property("ro.debuggable") != "1":
            return stream.write(b"adbd cannot run as root in production builds\n")
        stream.write(b"restarting adbd as root\n")
        stream.close()
        self._device.drop()

    def _run(self, command: str, joins_errors: bool = False) -> subprocess.Popen[bytes]:
        """Starts a command there, or a shell for none."""
        shell = ["/system/bin/sh", *(["-c", command] if command else [])]
        return subprocess.Popen(
            [*self._scope.enter("net", "mount", "pid", "uts", "ipc", of=self._pid), *shell],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if joins_errors else subprocess.PIPE,
        )


def main() -> None:
    """Starts a phone and waits for the end of the input."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shell", action="store_true", help="a phone until the input ends")
    if not parser.parse_args().shell:
        parser.error("nothing to do: --shell starts a phone")
    with tempfile.TemporaryDirectory() as folder, Phone(Path(folder)) as phone:
        port = phone.environment["ANDROID_ADB_SERVER_PORT"]
        print(f"export ANDROID_ADB_SERVER_PORT={port}")
        print(f"# adb -s {phone.serial} shell; its /data/local/tmp is {phone.tmp}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main()
