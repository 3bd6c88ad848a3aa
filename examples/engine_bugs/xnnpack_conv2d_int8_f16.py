"""A quantized aten.conv2d of float16 on executorch/xnnpack-int8.

executorch 1.5.1, torch 2.13.0+cpu.

The answer is written as float32 into memory that is planned for float16: it is wrong, and reaches
as far again beyond the memory's end. The process may die of it, so it is one of its own.

The exit code is 0 if the failure is there.
"""

import subprocess
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w0", torch.ones([1, 1, 1, 1], dtype=torch.float16))

    def forward(self, x):
        conv2d = torch.ops.aten.conv2d.default(x, self.w0)
        return (conv2d,)


if "--run" not in sys.argv:
    ran = subprocess.run([sys.executable, __file__, "--run"], timeout=600)
    print("ended with", ran.returncode)
    sys.exit(0 if ran.returncode <= 0 else 1)

net = Net().eval()
inputs = (torch.tensor([[[[0.25, 0.5, 0.75, 1.0]]]], dtype=torch.float16),)
config = get_symmetric_quantization_config(is_dynamic=False, is_per_channel=True)
quantizer = XNNPACKQuantizer().set_global(config)
prepared = prepare_pt2e(torch.export.export(net, inputs).module(), quantizer)
prepared(*inputs)  # calibration
net = convert_pt2e(prepared)
expected = net(*inputs)
exported = torch.export.export(net, inputs)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=[XnnpackPartitioner()],
    compile_config=EdgeCompileConfig(_check_ir_validity=False),
)
program = edge.to_executorch().buffer
method = Runtime.get().load_program(program).load_method("forward")
found = method.execute(inputs)
print("found", found[0].tolist(), "expected", expected[0].tolist())
print("the found bytes as float32", found[0].view(torch.float32).tolist())
wrong = not torch.allclose(found[0], expected[0], atol=0.01)
sys.exit(0 if wrong else 1)
