"""A softmax in float64 is computed in float32.

aten.softmax.int/float32/softmax-with_dtype-0 on onnxruntime/fp32.

onnxruntime 1.31.1, torch 2.13.0+cpu.

fail_numeric: output softmax: error_bound_ratio 1.711e+07 (<= 1), sample 0, element [0]:
0.268941432, expected 0.268941421 ± 6.35e-16

The exit code is 0 if the failure is there.
"""

import sys

import onnxruntime
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        softmax = torch.ops.aten.softmax.int(x, 0, torch.float64)
        return (softmax,)


net = Net().eval()
inputs = (torch.tensor([0.0, 1.0], dtype=torch.float32),)
expected = (torch.tensor([0.26894142136999516, 0.7310585786300049], dtype=torch.float64),)
limits = (torch.tensor([6.350585986967707e-16, 1.6451044422096194e-15], dtype=torch.float64),)
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
    print("found", found_one.tolist(), "expected", wanted.tolist())
    a, b = found_one.double(), wanted.double()
    if a.shape != b.shape:
        sys.exit(0)
    right = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)
    wrong |= not bool(right.all())
sys.exit(0 if wrong else 1)
