"""Tensors of more than six dimensions are taken by the partitioner, and not loaded.

aten.stack.default/float32/stack-0-high_rank on executorch/xnnpack-fp32.

executorch 1.5.1, torch 2.13.0+cpu.

load_error: method 'forward' does not load: Internal (0x1): Failed to define tensor 0 with code:
xnn_status_unsupported_parameter; XNNCompiler::compileModel failed: 0x1; Init failed for backend
XnnpackBackend: 0x1

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        stack = torch.ops.aten.stack.default([x])
        return (stack,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.tensor([[[[[[0.0]]]]]], dtype=torch.float32),)
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
