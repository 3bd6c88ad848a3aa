"""What makes torch quicker changes nothing that it makes, and notices what is registered later."""

import subprocess
import sys

_LOWER = """
import hashlib, sys
from assay.aot import quicker, warm
if "as_it_is" in sys.argv:
    quicker.prepare_torch = lambda: None
warm.import_toolchain()
from executorch.exir import to_edge_transform_and_lower
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.scaled_dot_product_attention(x, x, x).matmul(x.mT).softmax(-1)
warm.lower_one_operator()
edge = to_edge_transform_and_lower(torch.export.export(Net(), (torch.ones(1, 2, 3, 4),)))
print(hashlib.sha256(edge.to_executorch().buffer).hexdigest())
"""


def _run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "import torch\n" + program, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_program_is_the_same() -> None:
    assert _run(_LOWER) == _run(_LOWER, "as_it_is")


def test_an_operator_that_comes_later_is_found_and_the_rest_remembered() -> None:
    done = _run("""
from assay.aot import quicker
from torch._export import utils
search = utils._collect_all_valid_cia_ops
quicker.prepare_torch()
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
from assay.aot import quicker
def is_same():
    made = [torch.ops.aten.relu.default.py_impl(torch._C.DispatchKey.Meta) for _ in range(2)]
    return made[0].__annotations__["fn"] is made[1].__annotations__["fn"]
before = is_same()
quicker.prepare_torch()
print(before, is_same())
""")
    assert done.split() == ["False", "True"]
