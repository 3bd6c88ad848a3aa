"""aten.addmm.default on onnxruntime/fp32.

onnxruntime 1.31.1, torch 2.13.0+cpu.

The product of matrices has no depth, so addmm is beta times its first argument; beta is left
out.

The exit code is 0 if the failure is there.
"""

import sys

import onnxruntime
import torch


class Net(torch.nn.Module):
    def forward(self, x, y, z):
        addmm = torch.ops.aten.addmm.default(x, y, z, beta=2)
        return (addmm,)


net = Net().eval()
inputs = (torch.tensor([[1.0]], dtype=torch.float32), torch.zeros([1, 0]), torch.zeros([0, 1]))
expected = (torch.tensor([[2.0]], dtype=torch.float64),)
limits = (torch.tensor([[0.0]], dtype=torch.float64),)
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
