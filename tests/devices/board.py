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
from link import read_settings, write_settings
from namespaces import Disk, NoDevice, Scope, find_processes, find_tools, kill_processes
from sensors import Sensors

HERE = Path(__file__).resolve().parent
NATIVE = platform.machine()
ARCHITECTURES = (NATIVE, "aarch64")
ADDRESS = "192.0.2.2"
"""The board's, of a block that is reserved for examples; the host's end of the cable is .1."""

USER, GUEST = 1000, 1001
"""Ids of the two accounts' users."""

PROBE = "import socket as s, sys; s.create_connection((sys.argv[1], 22), 1).recv(1)[0]"

SSHD_CONFIG = """\
ListenAddress 0.0.0.0:{port}
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
  Port {port}
  User {user}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  HostKeyAlias {key}
  StrictHostKeyChecking yes
  ProxyCommand {enter} {python} -I -S {dial} %h %p {link}
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
    has_guest: a second account, `guest` for ssh, whose home is guest_home. Its user is another one
    of the kernel where this one is root, else another one of the board only.
    has_relay: set_link() works; each connection takes another process. plain_ssh_config goes
    without it, as processes in a name space of their own must.
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
        has_guest: bool = False,
        has_relay: bool = False,
        host: str = "board",
    ) -> None:
        self.host = host
        self._has_sensors = has_sensors
        self._has_guest = has_guest
        self._has_relay = has_relay
        self.folder = folder.resolve()
        self.architecture = architecture
        self.ssh_config = self.folder / "ssh_config"
        self.plain_ssh_config = self.folder / "plain_ssh_config"

    def __enter__(self) -> "Board":
        find_tools("sshd", "ssh", "ssh-keygen")
        self._scope = Scope(has_accounts=self._has_guest)
        try:
            self._write_files()
            self._disk = Disk(self._scope, self.folder / "home", "755", self._id_of(USER))
            if self._has_guest:
                self._guest_disk = Disk(
                    self._scope, self.folder / "guest", "755", self._id_of(GUEST)
                )
            if self._has_sensors:
                self.sensors = Sensors(self.folder / "sensors")
                if self.has_accounts:
                    self.sensors.permit_writing()
            self._arguments = self._make_arguments()
            self._start()
        except BaseException:
            self._scope.close()
            raise
        return self

    def close(self) -> None:
        """Ends the board and all processes on it."""
        self._scope.close()
        self._process.wait()

    @property
    def home(self) -> Path:
        """The folder of the board's user, as seen from here."""
        return self._disk.path

    @property
    def guest_home(self) -> Path:
        """The folder of the second account, as seen from here."""
        return self._guest_disk.path

    @property
    def has_accounts(self) -> bool:
        """True if the kernel tells its two accounts apart."""
        return self._scope.has_accounts

    def set_link(self, **settings: float) -> None:
        """Changes the settings of link.py, for all connections; `forgotten` counts up."""
        write_settings(self._link, **settings)

    def forget_connections(self) -> None:
        """Lets nothing arrive over the connections that there are, whose ends stay open."""
        self.set_link(forgotten=read_settings(self._link)["forgotten"] + 1)

    def give_away(self, folder: str, owner: int) -> None:
        """Makes a folder below the home, if it is there, and all in it, a user's."""
        if not self.has_accounts:
            raise NoDevice("needs root: another user of the board")
        self._disk.change(f"[ ! -e {folder} ] || chown -R {owner}:{owner} {folder}")

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

    def lose_power(self, *torn: str, empties_home: bool = False, down_s: float = 0.2) -> None:
        """Ends everything there at once and starts it again.

        `torn`: patterns below the home of files whose bytes had not come to the disk: only their
        names stay. empties_home: the home was in memory.
        """
        self._stop()
        for pattern in torn:
            for file in self.home.glob(pattern):
                if file.is_file():
                    os.truncate(file, 0)
        if empties_home:
            self._disk.change("find . -mindepth 1 -delete")
        time.sleep(down_s)
        self._start()

    def inside(self, script: str) -> None:
        """Runs a line of shell there as its root, whatever the link does; failures are ignored."""
        enter = self._scope.enter("mount", "pid", of=self._pid)
        subprocess.run([*enter, "sh", "-c", script], stdout=subprocess.DEVNULL, check=False)

    def change_host_key(self) -> None:
        """Gives the board another host key, which nobody here knows of."""
        self._make_host_key()
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

    @property
    def _link(self) -> Path:
        return self.folder / "link.json"

    def _id_of(self, user: int) -> int:
        """A user's id in the scope, which has root only where the maker is not root."""
        return user if self._scope.has_accounts else 0

    def _write_files(self) -> None:
        ssh = self.folder / "etc" / "ssh"
        ssh.mkdir(parents=True, exist_ok=True)
        for name, text in {
            "passwd": f"board:x:1000:1000::{self.home_there}:/bin/sh\n"
            f"guest:x:{GUEST}:{GUEST}::/home/guest:/bin/sh\n",
            "group": f"board:x:1000:\nguest:x:{GUEST}:\ntty:x:1000:\n",
            "hosts": f"127.0.0.1 localhost\n{ADDRESS} board\n",
        }.items():
            (self.folder / "etc" / name).write_text(text)
        settings = ""
        if self.architecture != NATIVE:
            values = [f"{name}={value}" for name, value in arm64.ENVIRONMENT.items()]
            settings = f"SetEnv {' '.join(values)}\n"
        for name, port in (("", 22), ("_of_guest", 2222)):
            text = SSHD_CONFIG.format(port=port)
            (ssh / f"sshd_config{name}").write_text(text + settings)
        (ssh / "authorized_keys").write_text(make_key(self.folder / "user_key") + "\n")
        (self.folder / "known_hosts").write_text(f"{self.host} {self._make_host_key()}\n")
        write_settings(self._link)
        accounts = [(self.host, "board", 22), *([("guest", "guest", 2222)] * self._has_guest)]
        for file, is_relayed in (
            (self.ssh_config, self._has_relay),
            (self.plain_ssh_config, False),
        ):
            file.write_text("".join(self._describe(*one, is_relayed) for one in accounts))

    def _make_host_key(self) -> str:
        public = make_key(self._host_key)
        if self.has_accounts:  # An sshd takes a key of its own user, or one that all may read.
            self._host_key.chmod(0o644)
        return public

    def _describe(self, host: str, user: str, port: int, is_relayed: bool) -> str:
        """The part of ssh_config for an account."""
        # A relay belongs to the scope, and ends with it.
        enter = self._scope.enter("net", *(["pid"] * is_relayed))
        return SSH_CONFIG.format(
            host=host,
            user=user,
            port=port,
            key=self.host,
            address=ADDRESS,
            folder=self.folder,
            enter=" ".join(enter),
            python=sys.executable,
            dial=HERE / "dial.py",
            link=self._link if is_relayed else "",
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
        if self._has_sensors:
            self.sensors.forget()


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
