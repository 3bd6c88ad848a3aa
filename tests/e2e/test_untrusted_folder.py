"""Python files in the current folder are data: no verb runs them."""

import sys

import pytest
from driver import ROOT, Workplace

NAMES = (
    "json",
    "numpy",
    "torch",
    "argparse",
    "runpy",
    "importlib",
    "assay",
    "decimal",
    "sitecustomize",
)
TOY_ENGINE = ROOT / "examples" / "engines" / "toy_engine.py"
VERBS = {
    "doctor": ["doctor"],
    "list": ["list", "recipes"],
    "inspect": ["inspect", "net.pte"],
    "bench": ["bench", "net.toy.json", "--engine", "toy@1", "--iterations", "2", "--warmup", "1"],
    "aot": ["aot", "net.py:make", "--recipe", "executorch/portable", "--out", "out"],
    "engine add": ["engine", "add", "toy@2", "--file", f"{TOY_ENGINE}:ToyEngine"],
}


@pytest.fixture
def poisoned(place: Workplace) -> Workplace:
    """A place whose current folder has modules of well-known names, and an engine in Python."""
    place.env["ASSAY_PYTHON"] = sys.executable
    added = place.run("engine", "add", "toy@1", "--file", f"{TOY_ENGINE}:ToyEngine")
    assert added.code == 0, added
    for name in NAMES:
        touch = f"open({str(place.folder / 'executed')!r}, 'a').write({name!r} + chr(10))\n"
        (place.folder / f"{name}.py").write_text(touch, encoding="utf-8")
    (place.folder / "net.toy.json").write_bytes(
        (ROOT / "examples" / "engines" / "net.toy.json").read_bytes()
    )
    (place.folder / "net.pte").write_bytes(b"no program")
    (place.folder / "net.py").write_text("def make():\n    return None\n", encoding="utf-8")
    return place


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_files_of_the_current_folder_are_not_executed(poisoned: Workplace, verb: str) -> None:
    finished = poisoned.run(*VERBS[verb])
    executed = poisoned.folder / "executed"
    assert not executed.exists(), f"{executed.read_text()}{finished}"
