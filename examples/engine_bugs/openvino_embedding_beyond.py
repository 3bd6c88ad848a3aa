"""aten.embedding.default on executorch/openvino-fp32.

executorch 1.5.1, openvino 2026.4.1, torch 2.13.0+cpu.

Rows that are not there are answered, with zeros beyond the last one and from the end for negative
indices; eager refuses them, and so do the portable kernels.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.backend.backend_details import CompileSpec
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x, y):
        embedding = torch.ops.aten.embedding.default(x, y)
        return (embedding,)


net = Net().eval()
inputs = (torch.tensor([[1.0], [2.0]], dtype=torch.float32), torch.tensor([2, -1]))
example = (torch.zeros([2, 1]), torch.tensor([0, 1]))
try:
    net(*inputs)
    sys.exit(1)
except IndexError as error:
    print("eager:", error)
exported = torch.export.export(net, example)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=[OpenvinoPartitioner([CompileSpec("device", b"CPU")])],
    compile_config=EdgeCompileConfig(_check_ir_validity=False),
)
program = edge.to_executorch().buffer
method = Runtime.get().load_program(program).load_method("forward")
found = method.execute(inputs)
print("found", [one.tolist() for one in found])  # Not reached where it is refused.
sys.exit(0)
