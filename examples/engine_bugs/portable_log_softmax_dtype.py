"""aten.log_softmax.int on executorch/portable.

executorch 1.5.1, torch 2.13.0+cpu.

Softmax of integers into float64 lowers and loads, and its kernel refuses it at run time.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        log_softmax = torch.ops.aten.log_softmax.int(x, 0, torch.float64)
        return (log_softmax,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.tensor([-2], dtype=torch.int32),)
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
