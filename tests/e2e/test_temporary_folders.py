"""The next command removes what a killed process left in $TMPDIR."""

import re
import signal
import subprocess
import sys

from driver import ROOT, Workplace

HOLDS_A_FOLDER = """
import sys
from assay.toolchain.temporary import TemporaryFolder
with TemporaryFolder("python") as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_folder_of_the_python_package_goes_with_the_next_command(place: Workplace) -> None:
    base = place.folder / "temporary"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS_A_FOLDER],
        env={**place.env, "PYTHONPATH": str(ROOT / "python")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    made = holder.stdout.readline().strip()
    place.ok("list", "metrics")
    assert [str(one) for one in base.iterdir()] == [made], "it is in use"
    holder.send_signal(signal.SIGKILL)
    holder.wait(timeout=60)
    assert [str(one) for one in base.iterdir()] == [made], "a killed process removes nothing"
    place.ok("list", "metrics")
    assert list(base.iterdir()) == []
    holder.stdin.close()
    holder.stdout.close()


def test_the_python_package_makes_no_folder_of_another_kind() -> None:
    package = ROOT / "python" / "assay"
    makes = re.compile(r"tempfile\.(mkdtemp|TemporaryDirectory)\((?!dir=folder\))")  # In the home.
    others = [one.name for one in package.rglob("*.py") if makes.search(one.read_text())]
    assert others == []
