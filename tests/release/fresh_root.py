"""A fresh machine: a bare Debian root in which a clone of this checkout follows the README.

    python tests/release/fresh_root.py --work build/fresh-root

The root has git, make, Python and this machine's settings of apt and pip, and nothing that Assay
installs. `make demo` comes first, then commands of the README that need no more than that, then
`make test`, where CI is set, so that no test is skipped for want of a tool. Prints each command's
time, and exits 1 at the first that fails. Needs root, debootstrap, 15 GB, and more than an hour.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bare_root import make_root

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = "ca-certificates,git,make,procps,python3,python3-venv"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
SETTINGS = ("etc/apt/apt.conf.d", "etc/pip.conf", "etc/xdg/pip", "etc/resolv.conf", CERTIFICATES)

# A root of its own mounts rather than chroot: in a chroot the kernel forbids the namespaces of the
# sandbox. `$1` is the root, `$2` a line of bash; more arguments are folders that the root shares.
ENTER = r"""
set -e
root=$1 line=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
for shared in "$@"; do
  mkdir -p "$root$shared"
  mount --bind "$shared" "$root$shared"
done
cd "$root"
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs tmpfs run
mkdir -p .outside
pivot_root . .outside
umount -l /.outside
cd /root/assay
exec bash -o pipefail -c "$line"
"""


@dataclass(frozen=True)
class Step:
    """A line of bash in the clone, and words that its output must not contain."""

    line: str
    unwanted: tuple[str, ...] = ()


ON_PATH = "source .venv/bin/activate; export PATH=$PWD/build/release/bin:$PATH; "
STEPS = (
    Step("make demo"),
    Step(ON_PATH + "assay list engines", ("runner was not built",)),
    Step(
        ON_PATH + "assay bench torchvision:mobilenet_v2 --threads 1 --launches 1 "
        "--recipe executorch/xnnpack-int8,openvino/int8",
        ("skipped", "not installed"),
    ),
    Step(ON_PATH + "assay run specs/engines.json --dry-run", ("runner was not built",)),
    Step("CI=true make test"),
)


def fill(root: Path) -> None:
    """Gives the root this machine's settings, and a clone."""
    for setting in SETTINGS:
        here, there = Path("/", setting), root / setting
        there.parent.mkdir(parents=True, exist_ok=True)
        if here.is_dir():
            shutil.copytree(here, there, dirs_exist_ok=True)
        elif here.exists():
            shutil.copyfile(here, there)
    clone = root / "root" / "assay"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True)


def environment() -> dict[str, str]:
    """Returns the variables of a login there, with this machine's settings of pip and proxies."""
    kept = {k: v for k, v in os.environ.items() if k.startswith("PIP_") or k.endswith("_proxy")}
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {**kept, "PATH": path, "HOME": "/root", "USER": "root", "LC_ALL": "C.UTF-8"}


def check(root: Path, step: Step, shared: list[str]) -> bool:
    """Runs a step, prints its output and its time, and tells whether it did what it should."""
    sys.stdout.write(f"$ {step.line}\n")
    started = time.monotonic()
    argv = ["unshare", "--mount", "--pid", "--fork", "bash", "-c", ENTER, "enter"]
    told = []
    with subprocess.Popen(
        [*argv, str(root), step.line, *shared],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            told.append(line)
    found = [words for words in step.unwanted if words in "".join(told)]
    minutes = (time.monotonic() - started) / 60
    sys.stdout.write(f"# exit code {process.returncode} after {minutes:.1f} minutes\n")
    if found:
        sys.stdout.write(f"FAILED: the output has {found}\n")
    return process.returncode == 0 and not found


def main() -> int:
    """Makes the root and takes the steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("build/fresh-root"))
    parser.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder that the root sees as well, such as one that pip's settings name",
    )
    options = parser.parse_args()
    root = options.work.resolve() / "root"
    make_root(root, PACKAGES)
    fill(root)
    if not all(check(root, step, options.share) for step in STEPS):
        return 1
    sys.stdout.write(f"{len(STEPS)} of {len(STEPS)} steps passed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
