"""Every fuzz target has its seeds, and they are those that make_corpus.py writes."""

import re
from pathlib import Path

import make_corpus
import pytest

ROOT = Path(__file__).resolve().parents[2]


def declared_targets() -> set[str]:
    """Names of all assay_fuzz(NAME …) of the modules."""
    lists = (ROOT / "src").rglob("CMakeLists.txt")
    return {
        name
        for file in lists
        for name in re.findall(r"^assay_fuzz\((\w+)", file.read_text(encoding="utf-8"), re.M)
    }


def test_every_target_has_seeds() -> None:
    assert declared_targets() == set(make_corpus.TARGETS)


@pytest.mark.parametrize("target", make_corpus.TARGETS)
def test_seeds_are_those_that_the_script_writes(target: str) -> None:
    committed = {
        file.name: file.read_bytes()
        for file in (make_corpus.CORPUS / target).iterdir()
        if not file.name.startswith("found-")
    }
    assert committed == make_corpus.TARGETS[target]()
