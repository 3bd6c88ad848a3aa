"""aten.max_pool2d_with_indices_backward.default on executorch/portable.

executorch 1.5.1, torch 2.13.0+cpu.

Gradients are added to whatever lies in the output's memory: they grow with every execution.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x, y, z):
        max_pool2d_with_indices_backward = torch.ops.aten.max_pool2d_with_indices_backward.default(
            x, y, [1, 1], [1, 2], [0, 0], [1, 1], False, z
        )
        return (max_pool2d_with_indices_backward,)


net = Net().eval()
inputs = (
    torch.tensor([[[[1.0]]]], dtype=torch.float32),
    torch.tensor([[[[0.0, 0.0]]]], dtype=torch.float32),
    torch.tensor([[[[0]]]], dtype=torch.int64),
)
expected = (torch.tensor([[[[1.0, 0.0]]]], dtype=torch.float64),)
limits = (torch.tensor([[[[2.9802325585138195e-07, 2.802596928649634e-45]]]], dtype=torch.float64),)
exported = torch.export.export(net, inputs)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=None,
    compile_config=EdgeCompileConfig(_check_ir_validity=False),
)
program = edge.to_executorch().buffer
method = Runtime.get().load_program(program).load_method("forward")
wrong = False
for _ in range(20):
    found = method.execute(inputs)
    for found_one, wanted, limit in zip(found, expected, limits, strict=True):
        a, b = found_one.double(), wanted.double()
        right = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)
        wrong |= not bool(right.all())
        print("found", found_one.tolist(), "expected", wanted.tolist())
sys.exit(0 if wrong else 1)
