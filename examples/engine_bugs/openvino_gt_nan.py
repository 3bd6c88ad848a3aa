"""aten.gt.Scalar on executorch/openvino-fp32.

executorch 1.5.1, openvino 2026.4.1, torch 2.13.0+cpu.

NaN counts as greater than 0.

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
        gt = torch.ops.aten.gt.Scalar(x, 0)
        return (gt,)


net = Net().eval()
inputs = (torch.tensor([float("nan")], dtype=torch.float32),)
expected = (torch.tensor([False]),)
limits = (torch.tensor([0.0], dtype=torch.float64),)
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
    a, b = found_one.double(), wanted.double()
    right = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)
    wrong |= not bool(right.all())
    print("found", found_one.tolist(), "expected", wanted.tolist())
sys.exit(0 if wrong else 1)
