"""Faults in PyTorch's kernels, and whether conformance finds them: the mutation score in short."""

import sys
from pathlib import Path

import pytest
from driver import BIN, ROOT

sys.path.insert(0, str(ROOT / "studies" / "mutation"))

VECTOR = {"shape": [2, 3], "dtype": "float32"}
CASES = {
    "add": {"ref": "aten:add.Tensor", "args": {"args": [VECTOR, VECTOR], "kwargs": {"alpha": 2}}},
    "round": {"ref": "aten:round.default", "args": {"args": [{**VECTOR, "low": -9, "high": 9}]}},
    "conv2d": {
        "ref": "aten:conv2d.default",
        "args": {
            "args": [
                {"shape": [1, 2, 9, 8], "dtype": "float32"},
                {"shape": [3, 2, 3, 3], "dtype": "float32", "constant": True},
                {"shape": [3], "dtype": "float32", "constant": True},
                *([2, 1], [1, 1], [1, 2]),
            ]
        },
    },
}
FAULTS = {
    "zeros": {"add", "round", "conv2d"},
    "stale: the answer to the call before": {"add", "round", "conv2d"},
    "last element not written": {"add", "round", "conv2d"},
    "last element of each row ignored": {"add", "round", "conv2d"},
    "alpha ignored": {"add"},
    "truncates": {"round"},
    "bias ignored": {"conv2d"},
    "padding off by one": {"conv2d"},
    "stride in reverse": {"conv2d"},
    "dilation ignored": {"conv2d"},
}
"""Which of the cases each fault spoils; the others have no such argument."""


@pytest.mark.slow
def test_faults_are_found_where_they_are_and_nowhere_else(tmp_path: Path) -> None:
    for program in ("assay-mutation-parts", "assay-runner-torch"):
        if not (BIN / program).exists():
            pytest.skip(f"{program} is not built")
    pytest.importorskip("torch")
    from judge import judge

    words = judge(tmp_path / "home", list(CASES.values()), ["", *FAULTS], samples=3)
    assert words[""] == ["pass"] * len(CASES)
    for fault, spoilt in FAULTS.items():
        found = {name for name, word in zip(CASES, words[fault], strict=True) if word != "pass"}
        assert found == spoilt, fault


def test_a_mutant_that_changes_nothing_is_told_from_one_that_is_missed() -> None:
    pytest.importorskip("torch")
    from score import changed_parts, make_program

    listed = [{"model": model} for model in CASES.values()]
    program, owners, samples = make_program(listed, count=3)
    truncated = changed_parts(program, owners, samples, "truncates")
    assert truncated == {1: "truncates"}
    narrow = changed_parts(program, owners, samples, "inputs rounded to half of the bits")
    # Whole numbers may stay the same.
    assert narrow[0] == narrow[2] == "inputs rounded to half of the bits"
    # No sum of these inputs is infinite.
    infinite = changed_parts(program, owners, samples, "infinity becomes the largest number")
    assert infinite == {0: "", 1: "", 2: ""}
