"""A product of quantized scalars is not lowered: a pass indexes a tensor without dimensions.

aten.mul.Tensor/float32/mul-1-dynamic-beyond on executorch/xnnpack-int8.

executorch 1.5.1, torch 2.13.0+cpu.

An error occurred when running the 'ChannelsLastTaggedReshapePass' pass, from IndexError: invalid
index of a 0-dim tensor.

The exit code is 0 if the failure is there.
"""

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
    def forward(self, x, y):
        mul = torch.ops.aten.mul.Tensor(x, y)
        return (mul,)


torch.manual_seed(0)
net = Net().eval()
inputs = (
    torch.tensor(-2.5609894, dtype=torch.float32),
    torch.tensor(-1.0869824, dtype=torch.float32),
)
config = get_symmetric_quantization_config(is_dynamic=False, is_per_channel=True)
quantizer = XNNPACKQuantizer().set_global(config)
prepared = prepare_pt2e(torch.export.export(net, inputs).module(), quantizer)
prepared(*inputs)  # calibration
net = convert_pt2e(prepared)
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
