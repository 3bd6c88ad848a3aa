"""aten.atan2.default on onnxruntime/fp32.

onnxruntime 1.31.1, torch 2.13.0+cpu.

The exporter asks whether y > 0, and puts 0 where y / x is NaN: the angle of (-1, 0) is -pi where pi
is right, that of NaN is 0, and that of (inf, inf) is 0 where pi / 4 is right.

The exit code is 0 if the failure is there.
"""

import sys

import onnxruntime
import torch


class Net(torch.nn.Module):
    def forward(self, x, y):
        atan2 = torch.ops.aten.atan2.default(x, y)
        return (atan2,)


net = Net().eval()
inputs = (
    torch.tensor([0.0, float("nan"), float("inf")], dtype=torch.float32),
    torch.tensor([-1.0, 1.0, float("inf")], dtype=torch.float32),
)
expected = (
    torch.tensor([3.141592653589793, float("nan"), 0.7853981633974483], dtype=torch.float64),
)
limits = (torch.tensor([2.3e-06, 0.0, 6e-07], dtype=torch.float64),)
exported = torch.export.export(net, inputs)
made = torch.onnx.export(exported, dynamo=True, verbose=False)
program = made.model_proto.SerializeToString()
session = onnxruntime.InferenceSession(program, providers=["CPUExecutionProvider"])
names = [one.name for one in session.get_inputs()]
arrays = [tensor.numpy() for tensor in inputs]
found = session.run(None, dict(zip(names, arrays, strict=True)))
found = [torch.from_numpy(array) for array in found]
wrong = False
for found_one, wanted, limit in zip(found, expected, limits, strict=True):
    a, b = found_one.double(), wanted.double()
    right = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)
    wrong |= not bool(right.all())
    print("found", found_one.tolist(), "expected", wanted.tolist())
sys.exit(0 if wrong else 1)
