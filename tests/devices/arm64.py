"""Programs for 64-bit Arm on this machine: qemu for a scope, and a root of Debian's packages."""

import os
import shutil
import subprocess
from pathlib import Path

from namespaces import NoDevice, Scope

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(os.environ.get("ASSAY_TEST_ARM64", ROOT / "build" / "test-arm64"))
"""The packages of tools/arm64_test_packages.txt, which tools/set_up_tests.sh unpacks."""

_IDENT = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
# Any OS ABI, programs and position-independent ones.
_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"


# The emulator's own choice has vectors of any length, whose emulation takes ten times as long. An
# agent hands the variable on to what it starts.
ENVIRONMENT = {"QEMU_CPU": "cortex-a76", "ASSAY_PASS_ENV": "QEMU_CPU"}

SELF = b"/proc/self/exe\0"


def find_packages() -> Path:
    """The folder of the unpacked packages; NoDevice when it is missing."""
    if not (PACKAGES / "bin" / "busybox").exists():
        raise NoDevice(f"{PACKAGES} is missing: tools/set_up_tests.sh makes it")
    return PACKAGES


def find_qemu() -> Path:
    """The static emulator; NoDevice when it is missing."""
    if (qemu := shutil.which("qemu-aarch64-static")) is None:
        raise NoDevice("not installed: qemu-user-static (tools/set_up_tests.sh installs it)")
    return Path(qemu).resolve()


def register(scope: Scope, folder: Path) -> None:
    """Lets programs for 64-bit Arm start in a scope, by a registry that this scope alone has.

    The kernel opens the emulator now (flag F), so no root needs to hold it, and passes on the name
    that a program was called by (P).
    """
    registry = folder / "binfmt"
    registry.mkdir(exist_ok=True)
    rule = f":aarch64:M::{_IDENT}:{_MASK}:{find_qemu()}:FP"
    scope.run(
        f"mount -t binfmt_misc binfmt_misc {registry}; echo '{rule}' >{registry}/register", "mount"
    )


def install_busybox(folder: Path, path_there: str) -> None:
    """Fills a folder with busybox and a link for each of its programs.

    `path_there`: its path on the device, of at most 14 characters. Busybox starts one program from
    another by /proc/self/exe, which is the emulator here, so it is told that path instead.
    """
    folder.mkdir()
    busybox = find_packages() / "bin" / "busybox"
    own = folder / Path(path_there).name
    own.write_bytes(busybox.read_bytes().replace(SELF, path_there.encode().ljust(len(SELF), b"\0")))
    own.chmod(0o755)
    listed = subprocess.run(
        [str(find_qemu()), str(busybox), "--list"], capture_output=True, text=True, check=True
    )
    for name in set(listed.stdout.split()) - {own.name}:
        (folder / name).symlink_to(own.name)
