"""The lists with hashes name what the lists of requirements name, but for torch."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pins_of(file: str) -> dict[str, str]:
    lines = (ROOT / "requirements" / file).read_text("utf-8").splitlines()
    pins = dict(line.split(" ")[0].split("==") for line in lines if re.match(r"[\w.-]+==", line))
    return {name.lower().replace("_", "-").replace(".", "-"): one for name, one in pins.items()}


@pytest.mark.parametrize("name", ["toolchain", "litert", "qnn", "arm"])
def test_each_requirement_but_torch_has_hashes_of_its_version(name: str) -> None:
    wanted = pins_of(f"{name}.txt")
    assert wanted.pop("torch", None) or name in ("qnn", "arm")
    assert pins_of(f"{name}.hashes.txt") == wanted, "make hashes"
    text = (ROOT / "requirements" / f"{name}.hashes.txt").read_text("utf-8")
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)
