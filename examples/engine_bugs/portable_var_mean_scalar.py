"""aten.var_mean.default on executorch/portable.

executorch 1.5.1, torch 2.13.0+cpu.

Var_mean of a scalar has NaN as its mean, too; the mean is the scalar.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        var_mean = torch.ops.aten.var_mean.default(x)
        getitem = var_mean[0]
        getitem_1 = var_mean[1]
        return (getitem, getitem_1)


net = Net().eval()
inputs = (torch.tensor(1.0, dtype=torch.float32),)
expected = (torch.tensor(float("nan"), dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64))
limits = (
    torch.tensor(0.0, dtype=torch.float64),
    torch.tensor(4.172325134277344e-06, dtype=torch.float64),
)
exported = torch.export.export(net, inputs)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=None,
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
