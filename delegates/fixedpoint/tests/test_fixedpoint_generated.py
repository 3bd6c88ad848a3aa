"""Generated networks, and the shapes of Assay's suites: all convert, and what is taken is right.

Programs run wherever they run without the delegate.

FIXEDPOINT_NETWORKS says how many networks, 6 unless it is given; `make test-long` takes 300 and the
shapes.
"""

import json
import os
import random
from pathlib import Path

import pytest
import torch
from fixedpoint_checks import (
    check_delegates,
    check_where_executorch_runs,
    is_limit,
    lower_any,
)
from fixedpoint_generated import Generated

pytest.importorskip("executorch")
pytestmark = [pytest.mark.engine, pytest.mark.slow]
COUNT = int(os.environ.get("FIXEDPOINT_NETWORKS", "6"))
CALLS = Path(__file__).parents[3] / "python" / "assay" / "data" / "operators" / "calls.jsonl"
SHAPES = 200


def quantizer_of(number):
    """Every third network has activations of 16 bits, another third Q formats."""
    return [{}, {"activations": "int16", "observer": "minmax"}, {"scales": "power_of_two"}][
        number % 3
    ]


def check_generated(numbers, library, library_path, folder):
    """Converts each, compares its delegates with the reference, then runs all as programs.

    Returns how many delegates there were, and how many networks ExecuTorch cannot run.
    """
    networks, taken = {}, 0
    for number in numbers:
        torch.manual_seed(number)
        model = Generated(random.Random(number)).eval()
        made = lower_any(model, model.example, **quantizer_of(number))
        taken += len(check_delegates(made, library))
        networks[str(number)] = (made, [model.example])
    limits = check_where_executorch_runs(library_path, folder, networks, bound=0.15)
    return taken, len(limits)


def test_generated_networks_convert_load_and_have_the_reference_s_bits(
    library, library_path, tmp_path
):
    taken, limits = check_generated(range(COUNT), library, library_path, tmp_path)
    assert taken >= COUNT // 2
    assert limits <= COUNT // 10


def test_layouts_that_executorch_changes_after_lowering_are_taken(library, library_path, tmp_path):
    """It puts images in order before an adaptive pooling in float, which knows no channels last."""
    assert check_generated([1048, 1102], library, library_path, tmp_path) == (4, 0)


def test_only_what_fails_without_the_delegate_too_is_a_limit_of_executorch():
    right, wrong = [[torch.ones(2)]], [[torch.zeros(2)]]
    kernel = "exit code 1: KernelCall failed at instruction 0:4 in operator aten::clamp.Tensor_out"
    assert is_limit(kernel, kernel, 0.1)
    assert is_limit(wrong, wrong, 0.1)
    ours = "exit code 1: FixedPointBackend: an argument has another type", "exit code -11: "
    for found, plain in [
        (wrong, right),
        (kernel, right),
        (wrong, kernel),
        *((x, kernel) for x in ours),
    ]:
        assert not is_limit(found, plain, 0.1)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_hundreds_of_generated_networks_do_so(part, library, library_path, tmp_path):
    numbers = range(1000 + 30 * part, 1030 + 30 * part)
    taken, limits = check_generated(numbers, library, library_path, tmp_path)
    assert taken >= 15
    assert limits <= 3


def suite_calls():
    """Calls of the suites' operators that the delegate has a rule for, spread over all of them."""
    from fixedpoint.rules import RULES

    rows = [json.loads(line) for line in CALLS.read_text().splitlines()]
    known = [
        row
        for row in rows
        if row["operator"].rpartition(".")[0] in RULES and "float32" in row["dtypes"]
    ]
    step = max(1, len(known) // SHAPES)
    return known[::step][:SHAPES]


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_shapes_of_the_suites_convert_and_load(part, library, library_path, tmp_path):
    pytest.importorskip("assay.conformance")
    from assay.conformance.operator_model import make_operator

    calls = suite_calls()
    assert len(calls) == SHAPES
    networks = {}
    for number, row in enumerate(calls[part::10]):
        reference = row["operator"].replace(".", ":", 1)
        asked = {key: row[key] for key in ("args", "kwargs", "dimensions") if key in row}
        arguments = json.loads(json.dumps(asked).replace('"case"', '"float32"'))
        model = make_operator(reference, arguments)
        example = model.make_sample(0, 0)
        made = lower_any(model.module, example)
        check_delegates(made, library)
        networks[str(number)] = (made, [example])
    assert len(check_where_executorch_runs(library_path, tmp_path, networks)) <= 2
