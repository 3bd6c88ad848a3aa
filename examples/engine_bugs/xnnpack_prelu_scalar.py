"""A pass of the lowering expects an image, and the partitioner takes other tensors, too.

aten.prelu.default/float32/prelu-2 on executorch/xnnpack-fp32.

executorch 1.5.1, torch 2.13.0+cpu.

aot_error: lower failed: Exception: An error occurred when running the
'ChannelsLastTaggedReshapePass' pass after the following passes: [] (from IndexError: invalid
index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a
0-dim tensor to a number)

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
        self.register_buffer("w0", torch.tensor(1.0, dtype=torch.float32))

    def forward(self, x):
        prelu = torch.ops.aten.prelu.default(x, self.w0)
        return (prelu,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.tensor(0.0, dtype=torch.float32),)
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
    sys.exit(0 if "An error occurred when running the" in str(error) else 1)
sys.exit(1)
