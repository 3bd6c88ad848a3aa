"""aten.prod.default on onnxruntime/fp32.

onnxruntime 1.31.1, torch 2.13.0+cpu.

Products of whole numbers are computed in floating point: 9007199254740993, which is 2**53 + 1,
times 1 is 2**53, and 2**62 times 3 is the largest int64 and does not wrap around.

The exit code is 0 if the failure is there.
"""

import sys

import onnxruntime
import torch


class Net(torch.nn.Module):
    def forward(self, x, y):
        prod = torch.ops.aten.prod.default(x)
        prod_1 = torch.ops.aten.prod.default(y)
        return (prod, prod_1)


net = Net().eval()
inputs = (
    torch.tensor([9007199254740993, 1], dtype=torch.int64),
    torch.tensor([4611686018427387904, 3], dtype=torch.int64),
)
expected = (torch.tensor(9007199254740993), torch.tensor(-4611686018427387904))
exported = torch.export.export(net, inputs)
made = torch.onnx.export(exported, dynamo=True, verbose=False)
program = made.model_proto.SerializeToString()
session = onnxruntime.InferenceSession(program, providers=["CPUExecutionProvider"])
names = [one.name for one in session.get_inputs()]
arrays = [tensor.numpy() for tensor in inputs]
found = session.run(None, dict(zip(names, arrays, strict=True)))
found = [torch.from_numpy(array) for array in found]
wrong = False
for found_one, wanted in zip(found, expected, strict=True):
    wrong |= not torch.equal(found_one, wanted)
    print("found", found_one.tolist(), "expected", wanted.tolist())
sys.exit(0 if wrong else 1)
