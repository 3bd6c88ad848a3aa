"""The greater of infinity and 0 is the largest number of the type.

aten.clamp_min.default/float32/multi_margin_loss-3-edge on onnxruntime/fp32.

onnxruntime 1.31.1, torch 2.13.0+cpu.

fail_numeric: output clamp_min: error_bound_ratio inf (<= 1), sample 0, element []:
3.40282347e+38, expected inf ± 0

The exit code is 0 if the failure is there.
"""

import sys

import onnxruntime
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        clamp_min = torch.ops.aten.clamp_min.default(x, 0)
        return (clamp_min,)


net = Net().eval()
inputs = (torch.tensor(float("inf"), dtype=torch.float32),)
expected = (torch.tensor(float("inf"), dtype=torch.float64),)
limits = (torch.tensor(0.0, dtype=torch.float64),)
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
