"""Checks what tools/sample_prose.py takes for a comment and for a paragraph."""

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest
from blocks import ROOT

SOURCE = """
// Says what it is
// in two lines.
int a = 0;  ///< Its first
            ///< half.
int b = 0;
"""
PYTHON = "# One\n# comment.\nA = 1  # Another one.\nB = 'no comment'\n'A text about B.'\n"
PAGE = """
# Heading

A sentence of
two lines. Another one.

- An item.
- `Code` begins one.

| a | table |

    a block
"""


@pytest.fixture(scope="module")
def sampler() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sample_prose", ROOT / "tools/sample_prose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_prose"] = module
    spec.loader.exec_module(module)
    return module


def test_a_comment_is_all_of_its_lines(sampler: ModuleType) -> None:
    found = list(sampler.comments_with_slashes(SOURCE))
    assert found == [(2, "Says what it is in two lines."), (4, "Its first half.")]
    found = list(sampler.comments_of_python(PYTHON))
    assert found == [(1, "One comment."), (3, "Another one."), (5, "A text about B.")]


def test_a_page_is_read_without_headings_tables_and_code(sampler: ModuleType) -> None:
    found = list(sampler.paragraphs_of(PAGE))
    assert [line for line, _ in found] == [4, 7, 8]
    assert found[0][1] == "A sentence of two lines. Another one."


def test_a_seed_draws_one_sample(sampler: ModuleType) -> None:
    passages = [sampler.Passage(Path("a"), line, "text") for line in range(100)]
    first, again, other = (sampler.draw(passages, 9, random.Random(seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == 9
