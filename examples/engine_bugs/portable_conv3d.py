"""aten.conv3d.default on executorch/portable.

executorch 1.5.1, torch 2.13.0+cpu.

A three-dimensional convolution lowers and loads, and its kernel refuses it at run time.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w0", torch.tensor([[[[[-1.8756601]]]]], dtype=torch.float32))

    def forward(self, x):
        conv3d = torch.ops.aten.conv3d.default(x, self.w0)
        return (conv3d,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.tensor([[[[[-0.25376058]]]]], dtype=torch.float32),)
try:
    exported = torch.export.export(net, inputs)
    edge = to_edge_transform_and_lower(
        exported,
        partitioner=None,
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    program = edge.to_executorch().buffer
    method = Runtime.get().load_program(program).load_method("forward")
    found = method.execute(inputs)
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(0 if str(error).replace("0x:", "0x").endswith("0x12") else 1)
sys.exit(1)
