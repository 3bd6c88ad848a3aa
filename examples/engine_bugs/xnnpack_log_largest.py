"""aten.log.default on executorch/xnnpack-fp32.

executorch 1.5.1, torch 2.13.0+cpu.

The logarithm of the largest float32 is infinity; 88.72 is right.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        log = torch.ops.aten.log.default(x)
        return (log,)


net = Net().eval()
inputs = (torch.tensor([3.4028235e38], dtype=torch.float32),)
expected = (torch.tensor([88.72283905206835], dtype=torch.float64),)
limits = (torch.tensor([4.2306346441301514e-05], dtype=torch.float64),)
exported = torch.export.export(net, inputs)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=[XnnpackPartitioner()],
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
