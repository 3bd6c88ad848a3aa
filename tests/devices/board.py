"""A board for tests: a machine behind a cable with an sshd of its own, without hardware.

    with Board(folder) as board:
        subprocess.run(["ssh", "-F", str(board.ssh_config), board.host, "uname -n"])

The board has its own network, processes, files, host name and user, and sees nothing of this
machine but its programs; with `architecture="aarch64"` it runs those of another processor under
qemu. It needs no privileges and leaves this machine's network and files alone.

    python tests/devices/board.py --shell [--architecture aarch64]

starts one for trying things by hand.
"""

import argparse
import contextlib
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import arm64
from device import SshDevice
from namespaces import Disk, NoDevice, Scope, find_processes, find_tools, kill_processes
from sensors import Sensors

HERE = Path(__file__).resolve().parent
NATIVE = platform.machine()
ARCHITECTURES = (NATIVE, "aarch64")
ADDRESS = "192.0.2.2"
"""The board's, of a block that is reserved for examples; the host's end of the cable is .1."""

PROBE = "import socket as s, sys; s.create_connection((sys.argv[1], 22), 1).recv(1)[0]"

SSHD_CONFIG = """\
ListenAddress 0.0.0.0
HostKey /etc/ssh/host_key
AuthorizedKeysFile /etc/ssh/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
"""

SSH_CONFIG = """\
Host {host}
  HostName {address}
  User board
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  HostKeyAlias {host}
  StrictHostKeyChecking yes
  ProxyCommand {enter} {python} -I -S {dial} %h %p
  ProxyUseFdpass yes
"""


def make_key(file: Path) -> str:
    """Makes a key pair; returns the public key."""
    for old in (file, file.with_suffix(".pub")):
        old.unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file)]
    subprocess.run(command, check=True)
    return file.with_suffix(".pub").read_text().strip()


class Board(SshDevice):
    """A board that runs between __enter__ and __exit__. Not thread-safe.

    host: its name for ssh with the file ssh_config.
    home: the folder of its user, as seen from here; there it is home_there.
    sensors: its temperatures, frequencies and battery, if it has its own and not this machine's.
    """

    alive_interval_s = 1
    home_there = "/home/board"

    sensors: Sensors

    def __init__(
        self,
        folder: Path,
        architecture: str = NATIVE,
        *,
        has_sensors: bool = False,
        host: str = "board",
    ) -> None:
        self.host = host
        self._has_sensors = has_sensors
        self.folder = folder.resolve()
        self.architecture = architecture
        self.ssh_config = self.folder / "ssh_config"

    def __enter__(self) -> "Board":
        find_tools("sshd", "ssh", "ssh-keygen")
        self._scope = Scope()
        try:
            self._write_files()
            self._disk = Disk(self._scope, self.folder / "home", mode="755")
            if self._has_sensors:
                self.sensors = Sensors(self.folder / "sensors")
            self._arguments = self._make_arguments()
            self._start()
        except BaseException:
            self._scope.close()
            raise
        return self

    def close(self) -> None:
        """Ends it and all that runs there."""
        self._scope.close()
        self._process.wait()

    @property
    def home(self) -> Path:
        """The folder of the board's user, as seen from here."""
        return self._disk.path

    def link_down(self) -> None:
        """Pulls the cable: nothing arrives, and nobody is told."""
        self._scope.run("ip link set eth0 down", "net", of=self._pid)

    def link_up(self) -> None:
        """Plugs the cable in again; what was under way goes on."""
        self._scope.run("ip link set eth0 up", "net", of=self._pid)

    def processes(self, program: str) -> list[int]:
        """Processes there, by their ids here, that run a program whose name begins so."""
        return find_processes(self._pid, program)

    def kill_agent(self) -> int:
        """Kills what runs there under a name that begins with assay-agent; returns how many."""
        return kill_processes(self.processes("assay-agent"))

    def reboot(self, down_s: float = 0.5) -> None:
        """Ends everything there and starts it again: another boot id, the same files."""
        self._stop()
        time.sleep(down_s)
        self._start()

    def change_host_key(self) -> None:
        """Gives the board another host key, which nobody here knows of."""
        make_key(self._host_key)
        # sshd reads its files again; connections stay.
        os.kill(self._pid, signal.SIGHUP)
        self._wait_until_up()

    def fill_disk(self) -> None:
        """Leaves no room in the board's home."""
        self._disk.fill()

    def free_disk(self) -> None:
        """Gives the room back."""
        self._disk.free()

    @property
    def _host_key(self) -> Path:
        return self.folder / "etc" / "ssh" / "host_key"

    def _write_files(self) -> None:
        ssh = self.folder / "etc" / "ssh"
        ssh.mkdir(parents=True, exist_ok=True)
        for name, text in {
            "passwd": f"board:x:1000:1000::{self.home_there}:/bin/sh\n",
            "group": "board:x:1000:\ntty:x:1000:\n",
            "hosts": f"127.0.0.1 localhost\n{ADDRESS} board\n",
        }.items():
            (self.folder / "etc" / name).write_text(text)
        settings = SSHD_CONFIG
        if self.architecture != NATIVE:
            values = [f"{name}={value}" for name, value in arm64.ENVIRONMENT.items()]
            settings += f"SetEnv {' '.join(values)}\n"
        (ssh / "sshd_config").write_text(settings)
        (ssh / "authorized_keys").write_text(make_key(self.folder / "user_key") + "\n")
        (self.folder / "known_hosts").write_text(f"{self.host} {make_key(self._host_key)}\n")
        self.ssh_config.write_text(
            SSH_CONFIG.format(
                host=self.host,
                address=ADDRESS,
                folder=self.folder,
                enter=" ".join(self._scope.enter("net")),
                python=sys.executable,
                dial=HERE / "dial.py",
            )
        )

    def _make_arguments(self) -> list[str]:
        """Makes the arguments of board_root.sh, and prepares another architecture."""
        if self.architecture == NATIVE:
            return [str(self.folder)]
        arm64.register(self._scope, self.folder)
        arm64.install_busybox(self.folder / "bin", "/bin/busybox")
        return [str(self.folder), str(arm64.find_packages())]

    def _start(self) -> None:
        (self.folder / "boot_id").write_text(f"{uuid.uuid4()}\n")
        self._process, self._pid = self._scope.start(
            HERE / "board_root.sh", *self._arguments, log=self.folder / "sshd.log"
        )
        self._scope.run(
            f"ip link add board0 type veth peer name eth0 netns {self._pid}; "
            "ip address add 192.0.2.1/24 dev board0; ip link set board0 up",
            "net",
        )
        self._scope.run(
            f"ip link set lo up; ip address add {ADDRESS}/24 dev eth0; ip link set eth0 up",
            "net",
            of=self._pid,
        )
        self._wait_until_up()

    def _wait_until_up(self, timeout_s: float = 10) -> None:
        end = time.monotonic() + timeout_s
        command = [*self._scope.enter("net"), sys.executable, "-I", "-S", "-c", PROBE, ADDRESS]
        while subprocess.run(command, capture_output=True).returncode != 0:
            if time.monotonic() > end:
                log = (self.folder / "sshd.log").read_text().strip()[-500:]
                raise NoDevice(f"the board's sshd does not answer: {log}")

    def _stop(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        self._process.wait()


def main() -> None:
    """Starts a board and waits for the end of the input."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shell", action="store_true", help="a board until the input ends")
    parser.add_argument("--architecture", choices=ARCHITECTURES, default=NATIVE)
    options = parser.parse_args()
    if not options.shell:
        parser.error("nothing to do: --shell starts a board")
    with (
        tempfile.TemporaryDirectory() as folder,
        Board(Path(folder), options.architecture) as board,
    ):
        print(f"export ASSAY_SSH='ssh -F {board.ssh_config}'")
        print(f"# ssh -F {board.ssh_config} {board.host}; its home is {board.home}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main()
