"""aten.adaptive_avg_pool2d.default on onnxruntime/fp32.

onnxruntime 1.31.1, torch 2.13.0+cpu.

The width is left open, and the program has the window of the width that it was exported with: of
three columns it makes three averages, where two were asked for.

The exit code is 0 if the failure is there.
"""

import sys

import onnxruntime
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        adaptive_avg_pool2d = torch.ops.aten.adaptive_avg_pool2d.default(x, [1, 2])
        return (adaptive_avg_pool2d,)


net = Net().eval()
example = (torch.zeros([1, 1, 2]),)
width = torch.export.Dim("width", min=2, max=9)
inputs = (torch.tensor([[[1.0, 2.0, 4.0]]], dtype=torch.float32),)
expected = (torch.tensor([[[1.5, 3.0]]], dtype=torch.float64),)
limits = (torch.tensor([[[1e-06, 1e-06]]], dtype=torch.float64),)
exported = torch.export.export(net, example, dynamic_shapes=({2: width},))
made = torch.onnx.export(exported, dynamo=True, verbose=False)
program = made.model_proto.SerializeToString()
session = onnxruntime.InferenceSession(program, providers=["CPUExecutionProvider"])
names = [one.name for one in session.get_inputs()]
arrays = [tensor.numpy() for tensor in inputs]
found = session.run(None, dict(zip(names, arrays, strict=True)))
found = [torch.from_numpy(array) for array in found]
wrong = False
for found_one, wanted, limit in zip(found, expected, limits, strict=True):
    print("found", found_one.tolist(), "expected", wanted.tolist())
    a, b = found_one.double(), wanted.double()
    if a.shape != b.shape:
        sys.exit(0)
    right = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)
    wrong |= not bool(right.all())
sys.exit(0 if wrong else 1)
