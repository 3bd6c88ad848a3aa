"""A bare Debian root: no compiler, no checkout, an empty virtual environment.

    python tests/release/bare_root.py dist build/wheelhouse --work build/bare-root

Installs the wheels of `dist` into it, from the wheelhouse alone, and tries what a user does first.
Then takes the steps of the GitHub action there, which installs its own wheel. Needs root for
chroot, and debootstrap; prints each command with its output, and exits 1 at the first that fails.
`make test-wheel` fills the wheelhouse and calls it.
"""

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from github_api import TOKEN, CommentServer
from github_runner import PULL_REQUEST, ROOT, Runner, some_regression

SUITE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
PACKAGES = "python3,python3-venv,man-db,groff-base"

NET = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
            torch.nn.Linear(8 * 16 * 16, 10))

    def forward(self, x):
        return self.layers(x)


def make():
    return Net().eval(), (torch.randn(1, 3, 16, 16),)
"""


@dataclass(frozen=True)
class Step:
    """A command in the root, and what its output must contain."""

    command: str
    expected: tuple[str, ...]
    code: int = 0


# A case may stay inconclusive on a busy machine; one that fails ends with another exit code.
QUICK = "--launches 1 --iterations 20 --time-budget 5s"
STEPS = (
    Step("command -v gcc cc g++ cmake git; echo none of them", ("none of them",)),
    Step("python3 -m venv /env && pip install --no-index --find-links /wheels assay | tail -1",
         ("Successfully installed assay",)),
    Step("assay --version", ("assay 0.", "commit ", "built by ")),
    Step("assay doctor", ("MISS engine", "pip install 'assay[executorch]'", "answers on this"), 3),
    Step("echo '{\"inputs\": [{\"dtype\": \"float32\", \"shape\": [1, 4]}], "
         "\"outputs\": [{\"dtype\": \"float32\", \"shape\": [1, 4]}]}' > vector.fake.json; "
         f"assay bench vector.fake.json {QUICK}", ("1 case: ", "engine fake@1")),
    Step("pip install --no-index --find-links /wheels 'assay[executorch,openvino,fixedpoint]' "
         "| tail -1 | cut -c1-120", ("Successfully installed",)),
    Step("assay doctor", ("ok   engine       executorch@", "ok   engine       openvino@")),
    Step("assay list recipes", ("executorch/xnnpack-fp32", "executorch/fixedpoint-int8")),
    Step(f"assay bench net.py:make --recipe executorch/xnnpack-fp32,executorch/portable {QUICK}",
         ("2 cases: ", "engine executorch@")),
    Step(f"assay bench net.py:make --recipe openvino/fp32 {QUICK}",
         ("1 case: ", "engine openvino@")),
    Step("assay eval net.py:make --recipe executorch/xnnpack-fp32 --against float32", ("1 pass",)),
    Step("assay eval net.py:make --recipe executorch/fixedpoint-int8 --against qdq "
         "$(python -m fixedpoint)", ("1 case: 1 pass",)),
    Step("assay report latest --out report.html && grep -c vega report.html && "
         "grep -o 'Copyright (c) 2015-2023, University of Washington' report.html",
         ("University of Washington",)),
    Step("source /env/share/bash-completion/completions/assay; COMP_LINE='assay conform --tier f'; "
         "COMP_POINT=${#COMP_LINE}; COMP_WORDS=($COMP_LINE); COMP_CWORD=3; _assay; "
         "echo ${COMPREPLY[@]}", ("full fuzz",)),
    Step("man -l /env/share/man/man1/assay.1 | head -12", ("assay - measure", "SYNOPSIS")),
    Step("ls /env/share/zsh/site-functions /env/share/fish/vendor_completions.d",
         ("_assay", "assay.fish")),
    Step("python -c 'import assay; print(assay.runs())'", ("bench", "eval")),
    Step("ls /env/lib/python3*/site-packages/assay-*.dist-info/licenses "
         "/env/lib/python3*/site-packages/assay-*.dist-info/sboms",
         ("LICENSE", "THIRD_PARTY_NOTICES", "assay.cdx.json")),
)  # fmt: skip


def make_root(root: Path, packages: str = PACKAGES) -> None:
    """Makes the root; the packages that debootstrap fetched serve the next one."""
    cache = root.parent / "debootstrap"
    cache.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(root, ignore_errors=True)
    command = ["debootstrap", "--variant=minbase", f"--include={packages}"]
    subprocess.run(
        [*command, f"--cache-dir={cache.resolve()}", SUITE, str(root), MIRROR],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def run_in(root: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash in the root, with the environment that a login there has."""
    return subprocess.run(
        ["chroot", str(root), "/bin/bash", "-o", "pipefail", "-c", f"cd /root; {command}"],
        env={
            "PATH": "/env/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            "MANWIDTH": "100",
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def check(root: Path, step: Step) -> bool:
    """Runs a step, prints its output, and tells whether it did what it should."""
    ended = run_in(root, step.command)
    missing = [words for words in step.expected if words not in ended.stdout]
    is_good = ended.returncode == step.code and not missing
    sys.stdout.write(f"$ {step.command}\n{ended.stdout}")
    if not is_good:
        sys.stdout.write(f"FAILED: exit code {ended.returncode}, not there: {missing}\n")
    sys.stdout.flush()
    return is_good


def mount(root: Path) -> list[Path]:
    """Mounts what programs expect of a running system."""
    points = [root / "proc", root / "dev"]
    subprocess.run(["mount", "-t", "proc", "proc", str(points[0])], check=True)
    subprocess.run(["mount", "--bind", "/dev", str(points[1])], check=True)
    return points


def fill(root: Path, folders: list[Path]) -> None:
    """Puts wheels and the model into the root; a link where the file system has them."""
    wheels = root / "wheels"
    wheels.mkdir()
    for folder in folders:
        for wheel in folder.glob("*.whl"):
            try:
                os.link(wheel, wheels / wheel.name)
            except OSError:
                shutil.copy(wheel, wheels)
    (root / "root" / "net.py").write_text(NET, encoding="utf-8")


def check_action(root: Path) -> bool:
    """Takes the steps of the action on a regression: found, and told in a comment."""
    shutil.copytree(ROOT / "tools" / "action", root / "action" / "tools" / "action")
    api = CommentServer()
    try:
        job = Runner(root / "job", {"GITHUB_API_URL": api.url}, PULL_REQUEST, root=root)
        code = job.use(
            **some_regression(job.workspace),
            wheel="/wheels/assay-*.whl",
            pip_options="--no-index --find-links /wheels",
            token=TOKEN,
        )
    finally:
        api.close()
    for ended in job.ends:
        sys.stdout.write(f"action: {ended.name}: {ended.code}\n{ended.out}")
    told = [comment["body"] for comment in api.comments]
    is_good = code == 1 and job.outputs["verdict"] == "slower" and "slower" in "".join(told)
    if not is_good:
        sys.stdout.write(f"FAILED: the action ended with {code}, {job.outputs}, {told}\n")
    return is_good


def main() -> int:
    """Makes the root, installs, tries."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dist", type=Path, help="folder of the wheels of Assay")
    parser.add_argument("wheelhouse", type=Path, help="folder of the wheels that they need")
    parser.add_argument("--work", type=Path, default=Path("build/bare-root"))
    options = parser.parse_args()
    if not any(options.dist.glob("assay-*-cp311-*.whl")):
        parser.error(f"{options.dist} has no wheel for Python 3.11, which {SUITE} has: make wheel")
    root = options.work.resolve() / "root"
    make_root(root)
    fill(root, [options.dist, options.wheelhouse])
    points = mount(root)
    try:
        for step in STEPS:
            if not check(root, step):
                return 1
        if not check_action(root):
            return 1
    finally:
        for point in reversed(points):
            subprocess.run(["umount", str(point)], check=False)
    sys.stdout.write(f"{len(STEPS)} of {len(STEPS)} steps passed, and the action\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
