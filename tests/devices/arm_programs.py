"""Programs of this tree for 64-bit Arm, as devices take them."""

import subprocess
import sys

from driver import Workplace
from far_agent import ROOT
from namespaces import NoDevice

BUILD = ROOT / "build" / "aarch64"


def add_fake_engine(place: Workplace) -> None:
    """Registers the fake engine for 64-bit Arm; NoDevice where it was not built."""
    runner = BUILD / "bin" / "assay-runner-fake"
    if not runner.exists():
        raise NoDevice(f"{runner} is missing: make aarch64")
    bundle = place.folder / "fake-bundle"
    make = [sys.executable, str(ROOT / "tools" / "make_device_bundle.py"), str(runner)]
    libraries = ["--libraries", str(ROOT / "build" / "sysroot-aarch64")]
    subprocess.run([*make, *libraries, "--out", str(bundle)], check=True, capture_output=True)
    place.ok("engine", "add", "fake@arm", "--device-bundle", str(bundle))
