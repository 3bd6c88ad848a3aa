"""Runs the tests of the sandbox on another Linux kernel, in a virtual machine, as root and a user.

    python tests/campaigns/older_kernel.py VMLINUZ [--qemu PROGRAM] [--bin build/release/bin]

VMLINUZ: that of Debian's linux-image-6.1…-cloud-amd64, say (`apt-get download`, `dpkg -x`). Needs
QEMU for this machine's architecture, a static busybox, and a build with assay_supervise_test.
Prints the tests that fail and what became of pid_max; ends with 0 where all pass.
"""

import argparse
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = "*SandboxedFiles*:SandboxTest.*:SharedMemory*:BoxedCommandTest.*:UsageWatch*"
INIT = """#!/bin/busybox sh
export PATH=/bin
if [ ! -e /switched ]; then
  /bin/busybox mkdir /new
  /bin/busybox mount -t tmpfs -o size=80% t /new
  /bin/busybox cp -a /bin /tests /assay-agent /assay_misbehave /lib /init /etc /new/
  /bin/busybox ln -s lib /new/lib64
  /bin/busybox touch /new/switched
  exec /bin/busybox switch_root /new /init
fi
/bin/busybox mkdir -p /usr /proc /sys /dev /tmp /root /home/u
/bin/busybox --install -s /bin
ln -s /bin /usr/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs -o mode=1777 shm /dev/shm
chmod 1777 /tmp
chown 1000:1000 /home/u
echo "kernel $(uname -r), pid_max $(cat /proc/sys/kernel/pid_max)"
for user in root u; do
  echo "as $user"
  su -s /bin/sh $user -c "/tests --gtest_color=no --gtest_filter='{tests}'"
  echo "pid_max $(cat /proc/sys/kernel/pid_max)"
done
echo over
poweroff -f
"""


def libraries_of(program: Path) -> list[Path]:
    """The loader and the shared libraries."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", told)]


def fill_root(root: Path, folder: Path) -> None:
    """All files of the machine."""
    busybox = shutil.which("busybox")
    if busybox is None:
        sys.exit("needs busybox; install busybox-static, or put one on PATH")
    (root / "lib").mkdir()
    (root / "lib64").symlink_to("lib")
    (root / "etc").mkdir()
    (root / "etc" / "passwd").write_text(
        "root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\n", encoding="utf-8"
    )
    (root / "etc" / "group").write_text("root:x:0:\nu:x:1000:\n", encoding="utf-8")
    (root / "bin").mkdir()
    shutil.copy(busybox, root / "bin" / "busybox")
    shutil.copy(folder / "assay_supervise_test", root / "tests")
    for name in ("assay-agent", "assay_misbehave"):
        shutil.copy(folder / name, root / name)
    for library in libraries_of(folder / "assay_supervise_test"):
        shutil.copy(library, root / "lib" / library.name)
    init = root / "init"
    init.write_text(INIT.replace("{tests}", TESTS), encoding="utf-8")
    init.chmod(0o755)


def archive_of(root: Path) -> bytes:
    """The folder as cpio (newc). Source: Linux, Documentation/driver-api/early-userspace."""
    parts = []
    for number, path in enumerate([*sorted(root.rglob("*")), None]):
        name = b"TRAILER!!!" if path is None else str(path.relative_to(root)).encode()
        mode, content = 0, b""
        if path is not None:
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                content = str(path.readlink()).encode()
            elif stat.S_ISREG(mode):
                content = path.read_bytes()
        fields = (number + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + name + b"\0"
        parts.append(header + b"\0" * (-len(header) % 4) + content + b"\0" * (-len(content) % 4))
    return b"".join(parts)


def main() -> int:
    """Runs the machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", type=Path)
    parser.add_argument("--qemu", default="qemu-system-x86_64")
    parser.add_argument("--qemu-flags", default="", help="more of QEMU's flags")
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-kernel-") as folder:
        root = Path(folder) / "root"
        root.mkdir()
        fill_root(root, given.bin)
        image = Path(folder) / "initrd"
        image.write_bytes(archive_of(root))
        command = [
            *(given.qemu, "-cpu", "max", "-m", "1500", "-smp", "2"),
            *("-nographic", "-no-reboot", "-net", "none"),
            *("-kernel", str(given.kernel), "-initrd", str(image)),
            *("-append", "console=ttyS0 quiet panic=-1 lsm=landlock,lockdown,yama,integrity"),
            *given.qemu_flags.split(),
        ]
        finished = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900
        )
    lines = [line.strip("\r") for line in finished.stdout.splitlines()]
    told = re.compile(r"kernel |as |pid_max|\[  (PASSED|FAILED|SKIPPED) |.*: Failure|over|  ")
    print("\n".join(line for line in lines if told.match(line)), finished.stderr, sep="\n")
    passed = sum("[  PASSED  ]" in line for line in lines)
    failed = any("[  FAILED  ]" in line for line in lines)
    return 0 if passed == 2 and not failed and "over" in lines else 1


if __name__ == "__main__":
    sys.exit(main())
