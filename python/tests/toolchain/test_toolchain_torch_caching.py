"""Caching in torch changes no output and notices later registrations."""

import re
import tempfile
from pathlib import Path

import pytest
from warm_scripts import run_script

pytestmark = pytest.mark.slow

_LOWER = """
import hashlib, sys
from assay.toolchain.server import torch_caching
from assay.toolchain.server import warmup
if "as_it_is" in sys.argv:
    torch_caching.prepare_torch = lambda: None
warmup.import_toolchain()
from executorch.exir import to_edge_transform_and_lower
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.scaled_dot_product_attention(x, x, x).matmul(x.mT).softmax(-1)
warmup.lower_one_operator()
edge = to_edge_transform_and_lower(torch.export.export(Net(), (torch.ones(1, 2, 3, 4),)))
print(hashlib.sha256(edge.to_executorch().buffer).hexdigest())
"""


def _run(program: str, *arguments: str) -> str:
    """Runs a program in a process of its own that has torch as it is, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text("import torch\n" + program)
        done = run_script(script, *arguments, imports="import torch")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_is_the_same() -> None:
    assert _run(_LOWER) == _run(_LOWER, "as_it_is")


def test_an_operator_that_comes_later_is_found_and_the_rest_remembered() -> None:
    done = _run("""
from assay.toolchain.server import torch_caching
from torch._export import utils
search = utils._collect_all_valid_cia_ops
torch_caching.prepare_torch()
before = utils._collect_all_valid_cia_ops()
assert before == search() and utils._collect_all_valid_cia_ops() is before
library = torch.library.Library("assay_later", "FRAGMENT")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x + x, "CompositeImplicitAutograd")
after = utils._collect_all_valid_cia_ops()
print(*(op.name() for op in after - before), after == search())
""")
    assert done.split() == ["assay_later::twice", "True"]


def test_annotations_of_a_registration_are_made_once() -> None:
    done = _run("""
from assay.toolchain.server import torch_caching
def is_same():
    made = [torch.ops.aten.relu.default.py_impl(torch._C.DispatchKey.Meta) for _ in range(2)]
    return made[0].__annotations__["fn"] is made[1].__annotations__["fn"]
before = is_same()
torch_caching.prepare_torch()
print(before, is_same())
""")
    assert done.split() == ["False", "True"]


_OVERRIDE = """
from torch._subclasses import fake_impls
from torch.export import exported_program
from assay.toolchain.server import torch_caching
override = exported_program._override_composite_implicit_decomp
made = []
def counted(decompositions):
    made.append(len(decompositions))
    return override(decompositions)
exported_program._override_composite_implicit_decomp = counted
torch_caching._cache_overridden_kernels()
linear = torch.ops.aten.linear.default
net = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
def left(table):
    before = dict(linear.py_kernels)
    done = net.run_decompositions(table)
    assert linear.py_kernels == before and linear not in fake_impls.op_implementations_dict
    return any(node.target is linear for node in done.graph.nodes)
for _ in range(2):  # operators are registered while the first are made
    left({}), left(None)
first = len(made)
print(left({}), left(None), left({}), first > 0, len(made) == first)
"""


def test_kernels_are_made_once_for_each_table_and_taken_away_again() -> None:
    assert _run(_OVERRIDE).split() == ["True", "False", "True", "True", "True"]


_EXPORT = """
import hashlib, io
from torch.onnx._internal.exporter import _registration
from assay.toolchain.server import torch_caching
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.gelu(x).cumsum(-1)
def exported(**options):
    file = io.BytesIO()
    torch.onnx.export(Net(), (torch.ones(2, 3),), dynamo=True, verbose=False, **options).save(file)
    return file.getvalue()
def own(x):
    from onnxscript import opset20
    return opset20.Tanh(x)
as_it_is, older = exported(), exported(opset_version=18)
torch_caching.prepare_imported(["torch.onnx._internal.exporter._registration"])
changed = exported(custom_translation_table={torch.ops.aten.gelu.default: own})
is_older_same = older == exported(opset_version=18)
print(as_it_is == exported(), is_older_same, changed == as_it_is)
"""


def test_programs_for_onnx_are_the_same_and_functions_of_an_export_stay_with_it() -> None:
    assert _run(_EXPORT).split()[-3:] == ["True", "True", "False"]


def test_a_torch_without_what_is_looked_for_stays_as_it_is() -> None:
    done = _run("""
import torch._export.utils as utils
del utils._collect_all_valid_cia_ops
from assay.toolchain.server import torch_caching
torch_caching.prepare_torch()
print(torch.export.exported_program._override_composite_implicit_decomp.__module__)
""")
    assert done.split() == ["assay.toolchain.server.torch_caching"]


_QUANTIZE = """
import sys
from assay.toolchain.server import torch_caching
if "as_it_is" in sys.argv:
    torch_caching._skip_fusion_without_batch_norm = lambda: None
torch_caching.prepare_torch()
from executorch.backends.xnnpack.quantizer import xnnpack_quantizer as xnnpack
from torchao.quantization.pt2e import quantize_pt2e, utils
exports = []
pattern = utils._get_aten_graph_module_for_pattern
def counted(*args):
    exports.append(args)
    return pattern(*args)
xnnpack.xnnpack_quantizer_utils = sys.modules[xnnpack.XNNPACKQuantizer.__module__ + "_utils"]
xnnpack.xnnpack_quantizer_utils._get_aten_graph_module_for_pattern = counted
def annotated(*layers):
    exports.clear()
    net = torch.nn.Sequential(*layers).train("train" in sys.argv)
    quantizer = xnnpack.XNNPACKQuantizer()
    quantizer.set_global(xnnpack.get_symmetric_quantization_config(is_qat="train" in sys.argv))
    graph = torch.export.export(net, (torch.ones(1, 3, 8, 8),), strict=True).module()
    prepare = quantize_pt2e.prepare_qat_pt2e if "train" in sys.argv else quantize_pt2e.prepare_pt2e
    code = prepare(graph, quantizer).code
    return code, len(exports)
conv = torch.nn.Conv2d(3, 4, 3)
for layers in ((conv, torch.nn.ReLU()), (conv, torch.nn.BatchNorm2d(4))):
    code, exported = annotated(*layers)
    print(code, "exported", exported > 0)
"""


def _check_quantized(expected: list[str], *mode: str) -> None:
    as_it_is = _run(_QUANTIZE, "as_it_is", *mode)
    quicker = _run(_QUANTIZE, *mode)
    assert re.findall("exported (.*)", as_it_is) == ["True", "True"]
    assert re.findall("exported (.*)", quicker) == expected
    assert re.sub("exported .*", "", quicker) == re.sub("exported .*", "", as_it_is)


@pytest.mark.long
def test_batch_norms_are_looked_for_where_there_are_any() -> None:
    _check_quantized(["False", "True"], "train")


@pytest.mark.long
def test_batch_norms_that_are_folded_are_not_looked_for() -> None:
    _check_quantized(["False", "False"])
