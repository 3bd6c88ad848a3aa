"""Small networks from PyTorch to bits: reference, every instruction set, ExecuTorch's runtime."""

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from fixedpoint_nets import NETS, Left, batches_like
from fixedpoint_running import (
    check_every_tensor,
    methods_in_manifest,
    run_in_executorch,
    run_in_process,
)

pytest.importorskip("executorch")
pytestmark = pytest.mark.engine
HERE = Path(__file__).parent
PYTHON = HERE.parent / "python"


def converted(name, **options):
    from fixedpoint.convert import convert, quantize

    torch.manual_seed(1)
    model, example = NETS[name]()
    batches = batches_like(example, 4)
    return convert(quantize(model, example, [example, *batches]), **options), example


@functools.cache
def integers_only(name):
    """A network, integer only, and its example: made once for all tests that change neither."""
    return converted(name, require_integer=True)


@pytest.fixture(scope="session", params=NETS)
def lowered(request):
    """A network, integer only, in one delegate."""
    made, example = integers_only(request.param)
    ((program, blob),) = made.programs()
    return made, example, program, blob


def test_every_tensor_has_the_reference_s_bits_on_every_instruction_set(lowered, library):
    _, example, program, blob = lowered
    check_every_tensor(library, program, blob, [x.numpy() for x in example])


def test_outputs_are_those_of_the_quantized_graph_in_float64(lowered):
    from fixedpoint import evaluate
    from fixedpoint.float64 import run_float64

    made, example, program, _ = lowered
    found = evaluate.evaluate(program, [x.numpy() for x in example])
    exact = run_float64(made.quantized, *example)
    for index, values, reals in zip(program.outputs, found, exact, strict=True):
        assert len(np.unique(values)) > 5
        scale = program.tensors[index].scale
        np.testing.assert_array_equal(np.round(reals.numpy() / scale), np.round(values / scale))


def test_kinds_that_are_tested():
    from fixedpoint.program import Kind

    kinds = set()
    for name in NETS:
        made, _ = integers_only(name)
        for program, _ in made.programs():
            kinds |= {op.kind for op in program.operations}
    assert kinds == set(Kind)


def test_the_unmodified_runtime_runs_it_and_sees_every_operation(lowered, library_path, tmp_path):
    from fixedpoint import evaluate

    made, example, program, _ = lowered
    pte = made.edge.to_executorch().buffer
    outputs, events = run_in_executorch(library_path, pte, example, tmp_path)
    expected = evaluate.evaluate(program, [x.numpy() for x in example])
    for found, values in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(found.numpy(), values)
    assert set(events) >= {str(i) for i in range(len(program.operations))}


def test_an_index_that_is_no_row_is_an_error_of_the_runtime(library_path, tmp_path):
    made, (words, kinds) = integers_only("tokens")
    pte = made.edge.to_executorch().buffer
    with pytest.raises(AssertionError, match="index 11 at position 1 is none of the 11 rows"):
        run_in_executorch(library_path, pte, [words.where(words != 10, 11), kinds], tmp_path)
    kinds = kinds.clone()
    kinds[1, 0] = -1
    with pytest.raises(AssertionError, match="index -1 at position 0 is none of the 3 rows"):
        run_in_executorch(library_path, pte, [words, kinds], tmp_path)


class Wide(torch.nn.Module):
    """Layers that are large enough to be divided."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 24, 3, padding=1),
            torch.nn.Conv2d(24, 24, 3, padding=1, groups=24),
            torch.nn.Conv2d(24, 48, 1),
            torch.nn.AdaptiveAvgPool2d(1),
        )

    def forward(self, x):
        return self.layers(x)


def test_the_threads_of_executorch_s_pool_change_no_bit(library_path, tmp_path):
    from fixedpoint import evaluate
    from fixedpoint.convert import convert, quantize

    torch.manual_seed(1)
    example = (torch.randn(1, 3, 32, 32),)
    made = convert(quantize(Wide(), example, [example]))
    ((program, _),) = made.programs()
    (expected,) = evaluate.evaluate(program, [x.numpy() for x in example])
    pte = made.edge.to_executorch().buffer
    for threads in (1, 2, 3):
        (found,), _ = run_in_executorch(library_path, pte, example, tmp_path, threads)
        np.testing.assert_array_equal(found.numpy(), expected)


def test_a_boundary_of_integers_leaves_quantize_and_dequantize_outside():
    made, _ = converted("mobile", boundary="int8", require_integer=True)
    ((program, _),) = made.programs()
    assert {program.tensors[i].dtype for i in (*program.inputs, *program.outputs)} == {"int8"}
    left = [
        str(n.target) for n in made.edge.exported_program().graph.nodes if n.op == "call_function"
    ]
    assert sum("quantize_per_tensor" in name for name in left) == 2


@pytest.mark.parametrize("name", ["mobile", "attention"])
def test_stripped_of_its_boundary_a_program_takes_and_gives_integers(name, library_path, tmp_path):
    from fixedpoint import evaluate
    from fixedpoint.convert import strip_boundary
    from fixedpoint.numbers import Quantization

    made, (example,) = converted(name, boundary="int8", require_integer=True)
    ((program, _),) = made.programs()
    pte = strip_boundary(made.edge).to_executorch().buffer
    source = program.tensors[program.inputs[0]]
    parameters = Quantization(source.scale, source.zero_point)
    integers = torch.tensor(
        [parameters.quantize(value) for value in example.flatten().tolist()], dtype=torch.int8
    ).reshape(example.shape)
    outputs, _ = run_in_executorch(library_path, pte, [integers], tmp_path)
    expected = evaluate.evaluate(program, [integers.numpy()])
    for found, values in zip(outputs, expected, strict=True):
        assert found.dtype == torch.int8
        np.testing.assert_array_equal(found.numpy(), values)
    program_file = tmp_path / "program.pte"
    printed = run_in_process(library_path, tmp_path, "read_constants", program_file)
    found = json.loads(printed.splitlines()[-1])
    tensors = {"input0": source}
    tensors |= {f"output{i}": program.tensors[index] for i, index in enumerate(program.outputs)}
    for place, tensor in tensors.items():
        assert found[f"{place}_scale"] == tensor.scale
        assert found[f"{place}_zp"] == tensor.zero_point
        assert (found[f"{place}_quant_min"], found[f"{place}_quant_max"]) == (-128, 127)


def test_recipes_name_what_is_left_with_its_reason():
    from fixedpoint.convert import convert, quantize
    from fixedpoint.partitioner import NotIntegerError
    from fixedpoint.plugin import recipes

    example = (torch.randn(1, 3, 8, 8),)
    quantized = quantize(Left(), example, [example])
    made = convert(quantized)
    assert any("cumsum" in name for name in made.reasons)
    options = [recipe["lowering"]["options"] for recipe in recipes]
    assert all(one["require_integer"] for one in options)
    reason = r"aten_cumsum_default \(aten\.cumsum\): its result is not quantized"
    with pytest.raises(NotIntegerError, match=reason):
        convert(quantized, **options[0])


def test_the_same_program_gives_the_same_bytes():
    first, second = (converted("moving")[0].programs()[0][1] for _ in range(2))
    assert first == second


def test_a_corrupt_blob_is_an_error(lowered, library):
    from fixedpoint.runtime import BlobError

    _, _, _, blob = lowered
    library.check(blob)
    for place in range(0, len(blob), 97):
        changed = bytearray(blob)
        changed[place] ^= 0x10
        with pytest.raises(
            BlobError, match=r"checksum|version|format|no fixed-point|cut off|header"
        ):
            library.check(bytes(changed))


def test_nothing_of_assay_names_the_delegate():
    root = HERE.parents[2]
    files = [p for p in (root / "src" / "assay").rglob("*") if p.is_file()]
    files += [p for p in (root / "python" / "assay").rglob("*") if p.suffix in (".py", ".json")]
    # The one list of the repository's plug-ins, by which an unknown recipe is told where it comes
    # from, and the test of that advice.
    lists = {"plugins.json", "recipes_test.cpp"}
    files = [p for p in files if p.name not in lists]
    name = re.compile(rb"fixedpoint[.:/-]|FixedPoint|fixed-point delegate")
    assert len(files) > 300
    assert [p for p in files if name.search(p.read_bytes())] == []


def test_the_plug_in_is_a_file_that_adds_recipes():
    pytest.importorskip("assay.toolchain")
    code = (
        "from assay.toolchain.recipes.recipes import recipe_from_json as read\n"
        "from assay.toolchain.recipes.recipes import why_unavailable as why\n"
        "from assay.toolchain.flows.executorch.partitioners import make_partitioner as make\n"
        "recipe = read('executorch/fixedpoint-int8')\n"
        "print(why(recipe), make(recipe.lowering.partitioner, recipe.lowering.options))\n"
        "from executorch.exir.backend.backend_details import BackendDetails\n"
        "print([known.__name__ for known in BackendDetails.__subclasses__()])"
    )
    environment = {**os.environ, "ASSAY_PLUGINS": str(HERE.parent / "assay_plugin.py")}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "FixedPointPartitioner" in done.stdout, done.stderr
    assert "'FixedPointBackend'" in done.stdout


def test_a_program_of_integers_is_described_by_assay_s_manifest(tmp_path):
    methods = methods_in_manifest(converted("mobile")[0].quantized, tmp_path)
    for value in methods["forward"]["inputs"] + methods["forward"]["outputs"]:
        assert (value["dtype"], value["quantization"]["dtype"]) == ("int8", "int8")
    assert {"input0_scale", "input0_zp", "output0_scale", "output0_zp"} <= set(methods)
