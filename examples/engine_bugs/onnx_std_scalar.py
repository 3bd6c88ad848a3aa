"""aten.std.correction on onnxruntime/fp32.

onnxruntime 1.31.1, torch 2.13.0+cpu.

The standard deviation of a tensor without dimensions is not exported: the exporter makes a Gather
without indices.

The exit code is 0 if the failure is there.
"""

import sys

import torch


class Net(torch.nn.Module):
    def forward(self, x):
        std = torch.ops.aten.std.correction(x)
        return (std,)


net = Net().eval()
inputs = (torch.tensor(1.0, dtype=torch.float32),)
try:
    exported = torch.export.export(net, inputs)
    made = torch.onnx.export(exported, dynamo=True, verbose=False)
except Exception as error:
    cause = error.__cause__ or error
    print(f"{type(cause).__name__}: {cause}")
    sys.exit(0 if "prims.var.default" in str(cause) else 1)
sys.exit(1)
