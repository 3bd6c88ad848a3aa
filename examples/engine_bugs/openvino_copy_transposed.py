"""A delegate that has only a copy to make leaves its output as it was.

aten.atan.default/float32/atan-0-transposed on executorch/openvino-fp32.

executorch 1.5.1, torch 2.13.0+cpu.

fail_numeric: output output0: error_bound_ratio 3.82e+05 (<= 1), sample 0, element [0, 0]: 1,
expected 0.785398163 ± 5.62e-07

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.backend.backend_details import CompileSpec
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        transpose = torch.ops.aten.transpose.int(x, 0, -1)
        contiguous = torch.ops.aten.contiguous.default(transpose)
        transpose_1 = torch.ops.aten.transpose.int(contiguous, 0, -1)
        atan = torch.ops.aten.atan.default(transpose_1)
        contiguous_1 = torch.ops.aten.contiguous.default(atan)
        return (contiguous_1,)


net = Net().eval()
inputs = (torch.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=torch.float32),)
expected = (
    torch.tensor(
        [[0.7853981633974483, 0.7853981633974483], [0.7853981633974483, 0.7853981633974483]],
        dtype=torch.float64,
    ),
)
limits = (
    torch.tensor(
        [
            [5.617605424385893e-07, 5.617605424385893e-07],
            [5.617605424385893e-07, 5.617605424385893e-07],
        ],
        dtype=torch.float64,
    ),
)
exported = torch.export.export(net, inputs)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=[OpenvinoPartitioner([CompileSpec("device", b"CPU")])],
    compile_config=EdgeCompileConfig(_check_ir_validity=False),
)
program = edge.to_executorch().buffer
method = Runtime.get().load_program(program).load_method("forward")
found = method.execute(inputs)
wrong = False
for found_one, wanted, limit in zip(found, expected, limits, strict=True):
    print("found", found_one.tolist(), "expected", wanted.tolist())
    a, b = found_one.double(), wanted.double()
    if a.shape != b.shape:
        sys.exit(0)
    right = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)
    wrong |= not bool(right.all())
sys.exit(0 if wrong else 1)
