"""Namespaces that a test device lives in: made without privileges, gone with the test.

A `Scope` is the outer part, which lasts as long as the device: a user namespace in which this user
is root, a network that holds the host's end of a cable, mounts, and a process namespace whose end
ends whatever was started in it. It ends itself when the test does, because its first process waits
for the end of a pipe.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

TOOLS = ("unshare", "nsenter", "mount", "ip")
FILES = {"mount": "mnt"}
"""Names below /proc/PID/ns of the kinds that have another one there."""


class NoDevice(Exception):
    """This machine cannot have the test device; the text says why and what helps."""


def find_tools(*names: str) -> None:
    """Raises NoDevice when a program is missing."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    if missing := [name for name in names if shutil.which(name, path=path) is None]:
        raise NoDevice(f"not installed: {', '.join(missing)} (tools/set_up_tests.sh installs them)")


def list_children(pid: int) -> list[int]:
    """Ids of the children of a process, as this process sees them."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):  # A thread that has ended hides no child of others.
                children += map(int, (task / "children").read_text().split())
    return children


def find_processes(first: int, program: str) -> list[int]:
    """Processes in the namespace of a device's first one whose program's name begins so.

    The ids are those here; under an emulator the program is one of the first words.
    """
    space = Path(f"/proc/{first}/ns/pid").readlink()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode().split("\0")
            is_called_so = any(Path(word).name.startswith(program) for word in words[:3])
            if is_called_so and (folder / "ns" / "pid").readlink() == space:
                found.append(int(folder.name))
    return found


def kill_processes(pids: list[int]) -> int:
    """Kills processes; returns how many there were."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


ACCOUNTS = 1 << 16
"""Ids of users that a scope has whose maker is root; one otherwise."""


class Scope:
    """The outer namespaces of one device.

    has_accounts: it has users of its own beside root, which only root can give it.
    """

    def __init__(self, *, has_accounts: bool = False) -> None:
        find_tools(*TOOLS)
        self.has_accounts = has_accounts and os.geteuid() == 0
        # The pipe's end ends the first process, and with it everything in here.
        spaces = "unshare --net --mount --pid --fork --mount-proc"
        script = f"echo new; read -r _; exec {spaces} sh -c 'echo ready; exec cat >/dev/null'"
        self._process = subprocess.Popen(
            ["unshare", "--user", "sh", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._expect(b"new\n")
        self._map_users()
        self._expect(b"ready\n")
        (self.pid,) = list_children(self._process.pid)

    def _expect(self, line: bytes) -> None:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        if self._process.stdout.readline() != line:
            text = self._process.stderr.read().decode().strip()
            raise NoDevice(f"this kernel or container forbids namespaces: {text}")

    def _map_users(self) -> None:
        """Makes this user the scope's root, and lets it go on."""
        assert self._process.stdin is not None
        folder = Path(f"/proc/{self._process.pid}")
        count = ACCOUNTS if self.has_accounts else 1
        try:
            (folder / "setgroups").write_text("allow" if self.has_accounts else "deny")
            (folder / "uid_map").write_text(f"0 {os.geteuid()} {count}\n")
            (folder / "gid_map").write_text(f"0 {os.getegid()} {count}\n")
        except OSError as error:
            self._process.kill()
            raise NoDevice(f"this kernel or container forbids namespaces: {error}") from error
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def enter(self, *kinds: str, of: int | None = None) -> list[str]:
        """The start of a command line that runs a program in namespaces of this scope.

        `of`: a process of the scope whose namespaces of these kinds are meant, not the outer ones.
        """
        flags = [f"--{kind}=/proc/{of or self.pid}/ns/{FILES.get(kind, kind)}" for kind in kinds]
        user = f"--user=/proc/{self.pid}/ns/user"
        return [shutil.which("nsenter") or "nsenter", user, "--preserve-credentials", *flags, "--"]

    def run(self, script: str, *kinds: str, of: int | None = None) -> None:
        """Runs a line of shell in namespaces of the scope; NoDevice when it fails."""
        command = [*self.enter(*kinds, of=of), "sh", "-euc", f"PATH=$PATH:/usr/sbin; {script}"]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode != 0:
            raise NoDevice(f"this kernel or container forbids '{script}': {ended.stderr.strip()}")

    def start(
        self, script: Path, *arguments: str, log: Path
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Starts a script as the first process of namespaces of its own.

        Returns the process that waits for it, and the id of the first process, which has said
        "ready" on its stdout.
        """
        unshare = ["unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork"]
        with log.open("ab") as errors:
            process = subprocess.Popen(
                [*self.enter("mount", "pid"), *unshare, "sh", "-eu", str(script), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert process.stdout is not None
        with process.stdout as answer:
            if answer.readline() != b"ready\n":
                text = log.read_text().strip()[-500:]
                raise NoDevice(f"this kernel or container forbids the device: {text}")
        # nsenter forks to enter the process namespace, unshare to have one of its own.
        (entered,) = list_children(process.pid)
        (first,) = list_children(entered)
        return process, first

    def close(self) -> None:
        """Ends everything in the scope."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait(timeout=60)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


class Disk:
    """A device's file system of limited size, which outlives what runs on the device."""

    SIZE_BYTES = 1 << 30

    def __init__(self, scope: Scope, folder: Path, mode: str, owner: int = 0) -> None:
        folder.mkdir(exist_ok=True)
        self._scope, self._folder = scope, folder
        options = f"size={self.SIZE_BYTES},mode={mode},uid={owner},gid={owner}"
        scope.run(f"mount -t tmpfs -o {options} tmpfs {folder}", "mount")

    @property
    def path(self) -> Path:
        """Its files, as seen from here."""
        return Path(f"/proc/{self._scope.pid}/root{self._folder}")

    def change(self, script: str) -> None:
        """Runs a line of shell in its folder as root of the scope."""
        self._scope.run(f"cd {self._folder}; {script}", "mount")

    def fill(self) -> None:
        """Leaves no room, or a page if it is empty: no size at all would be no limit."""
        self._resize("$(du -sk . | awk '{print ($1 > 4 ? $1 : 4)}')k")

    def free(self) -> None:
        """Gives the room back."""
        self._resize(str(self.SIZE_BYTES))

    def _resize(self, size: str) -> None:
        folder = self._folder
        self._scope.run(f"cd {folder}; mount -o remount,size={size} {folder}", "mount")
