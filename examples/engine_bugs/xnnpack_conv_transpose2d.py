"""aten.conv_transpose2d.input on executorch/xnnpack-fp32.

executorch 1.5.1, torch 2.13.0+cpu.

A transposed convolution with dilation and output padding is taken, and fails at run time.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer(
            "w0", torch.tensor([[[[-1.8756601]]], [[[1.3075805]]]], dtype=torch.float32)
        )

    def forward(self, x):
        conv_transpose2d = torch.ops.aten.conv_transpose2d.input(
            x, self.w0, None, [3, 2], [1, 2], [2, 3], 1, [4, 4]
        )
        return (conv_transpose2d,)


torch.manual_seed(0)
net = Net().eval()
inputs = (
    torch.tensor([[[-0.3005695, -0.97494763]], [[-0.9449443, 1.258344]]], dtype=torch.float32),
)
try:
    exported = torch.export.export(net, inputs)
    edge = to_edge_transform_and_lower(
        exported,
        partitioner=[XnnpackPartitioner()],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    program = edge.to_executorch().buffer
    method = Runtime.get().load_program(program).load_method("forward")
    found = method.execute(inputs)
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(0 if str(error).replace("0x:", "0x").endswith("0x1") else 1)
sys.exit(1)
