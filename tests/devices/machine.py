"""A machine for slow tests: a 64-bit Arm computer with a kernel of its own, emulated whole.

    with Machine(folder) as machine:
        subprocess.run(["ssh", "-F", str(machine.ssh_config), machine.host, "uname -r"])

For what namespaces cannot show: memory that runs out, another kernel, a reset in the middle of
work. Its home is a file system of 64 MB in memory, so a reset empties it.

    python tests/devices/machine.py --shell

starts one for trying things by hand.
"""

import argparse
import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import arm64
from adb_server import find_free_port
from board import make_key
from device import SshDevice
from initramfs import Initramfs
from namespaces import NoDevice, find_tools

HERE = Path(__file__).resolve().parent
MEMORY_MB = 512
FOLDERS = ("bin", "dev", "etc", "home", "home/board", "lib", "modules", "proc", "sys", "tmp")
MODULES = (
    *("drivers/virtio/virtio", "drivers/virtio/virtio_ring", "drivers/virtio/virtio_mmio"),
    *("net/core/failover", "drivers/net/net_failover", "drivers/net/virtio_net"),
)
FILES = {
    "etc/passwd": "root:x:0:0::/:/bin/sh\nboard:x:1000:1000::/home/board:/bin/sh\n",
    "etc/group": "root:x:0:\nboard:x:1000:\n",
    "etc/shells": "/bin/sh\n",
}

SSH_CONFIG = """\
Host {host}
  HostName 127.0.0.1
  Port {port}
  User board
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  HostKeyAlias {host}
  StrictHostKeyChecking yes
"""


class Machine(SshDevice):
    """A machine that runs between __enter__ and __exit__. Not thread-safe.

    clock: the time at which it starts, "2031-01-01T00:00:00"; this machine's unless it is given.
    """

    host = "machine"
    alive_interval_s = 5
    home_there = "/home/board"

    def __init__(self, folder: Path, clock: str = "") -> None:
        self.folder = folder.resolve()
        self._clock = clock
        self.ssh_config = self.folder / "ssh_config"
        self._port = find_free_port()

    def __enter__(self) -> "Machine":
        find_tools("qemu-system-aarch64", "ssh", "ssh-keygen")
        self.folder.mkdir(exist_ok=True)
        self._packages = arm64.find_packages()
        self._make_keys()
        with (self.folder / "initramfs").open("wb") as file:
            self._fill(Initramfs(file))
        self._start()
        try:
            self.wait_until_up()
        except BaseException:
            self._process.kill()
            raise
        return self

    def close(self) -> None:
        """Ends the board and all processes on it."""
        self._process.kill()
        self._process.wait()

    @property
    def console(self) -> str:
        """Text that the kernel wrote since the start; errors only, once it runs."""
        return (self.folder / "console").read_text(errors="replace")

    def reset(self) -> None:
        """Presses the button; returns when the machine is up again, with an empty home."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.folder / "monitor"))
            monitor.sendall(b"system_reset\n")
            time.sleep(0.1)
        self.wait_until_up()

    def wait_until_up(self, timeout_s: float = 120) -> None:
        """Returns when somebody can log in."""
        end = time.monotonic() + timeout_s
        while self.ssh("true").returncode != 0:
            if time.monotonic() > end or self._process.poll() is not None:
                text = self.console.strip()[-500:]
                raise NoDevice(f"the emulated machine does not come up: {text}")
            time.sleep(0.2)

    def _make_keys(self) -> None:
        self._user_key = make_key(self.folder / "user_key")
        key = self.folder / "host_key"
        tool = [str(arm64.find_qemu()), "-L", str(self._packages)]
        made = subprocess.run(
            [*tool, str(self._packages / "usr/bin/dropbearkey"), "-t", "ed25519", "-f", str(key)],
            capture_output=True,
            text=True,
            check=True,
        )
        (public,) = [line for line in made.stdout.splitlines() if line.startswith("ssh-ed25519")]
        (self.folder / "known_hosts").write_text(f"{self.host} {public}\n")
        values = {"host": self.host, "port": self._port, "folder": self.folder}
        self.ssh_config.write_text(SSH_CONFIG.format(**values))

    def _fill(self, root: Initramfs) -> None:
        for folder in FOLDERS:
            root.add_folder(folder)
        programs = self.folder / "bin"
        arm64.install_busybox(programs, "/bin/busybox")
        root.add_tree("bin", programs)
        root.add_file("bin/dropbear", (self._packages / "usr/sbin/dropbear").read_bytes(), 0o755)
        self._add_libraries(root)
        (kernel,) = (self._packages / "lib" / "modules").iterdir()
        for module in MODULES:
            file = kernel / "kernel" / f"{module}.ko"
            root.add_file(f"modules/{file.name}", file.read_bytes())
        for name, text in FILES.items():
            root.add_file(name, text.encode())
        root.add_folder("ssh")
        root.add_file("ssh/authorized_keys", f"{self._user_key}\n".encode(), 0o600)
        root.add_file("host_key", (self.folder / "host_key").read_bytes(), 0o600)
        root.add_file("init", (HERE / "machine_init.sh").read_bytes(), 0o755)
        root.close()

    def _add_libraries(self, root: Initramfs) -> None:
        """The loader and shared libraries of the packages, all in one folder."""
        root.add_folder("lib/aarch64-linux-gnu")
        for folder in ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu"):
            for file in (self._packages / folder).glob("*.so*"):
                root.add_file(f"lib/aarch64-linux-gnu/{file.name}", file.read_bytes(), 0o755)
        root.add_link("lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu/ld-linux-aarch64.so.1")

    def _start(self) -> None:
        (kernel,) = (self._packages / "boot").glob("vmlinuz-*")
        forwarded = f"hostfwd=tcp:127.0.0.1:{self._port}-10.0.2.15:22"
        words = (
            f"-machine virt -cpu cortex-a72 -smp 2 -m {MEMORY_MB} -nodefaults -nographic "
            f"-kernel {kernel} -initrd {self.folder}/initramfs "
            f"-serial file:{self.folder}/console -monitor unix:{self.folder}/monitor,server,nowait "
            f"-netdev user,id=net,restrict=on,{forwarded} -device virtio-net-device,netdev=net"
        ).split()
        if self._clock:
            words += ["-rtc", f"base={self._clock}"]
        self._process = subprocess.Popen(
            ["qemu-system-aarch64", *words, "-append", "console=ttyAMA0 quiet"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def main() -> None:
    """Starts a machine and waits for the end of the input."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shell", action="store_true", help="a machine until the input ends")
    if not parser.parse_args().shell:
        parser.error("nothing to do: --shell starts a machine")
    with tempfile.TemporaryDirectory() as folder, Machine(Path(folder)) as machine:
        print(f"export ASSAY_SSH='ssh -F {machine.ssh_config}'")
        print(f"# ssh -F {machine.ssh_config} {machine.host}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main()
