"""Two convolutions on executorch/xnnpack-int8.

executorch 1.5.1, torch 2.13.0+cpu.

One convolution used twice, quantized per channel, is not loaded: XNNPACK refuses to create it.

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
    def __init__(self):
        super().__init__()
        self.register_buffer("w0", torch.randn([4, 4, 3, 3], dtype=torch.float32))
        self.register_buffer(
            "w1",
            torch.tensor(
                [-0.14972025, -0.07901287, 0.113484204, -0.0010804137], dtype=torch.float32
            ),
        )

    def forward(self, x, y):
        conv2d = torch.ops.aten.conv2d.default(x, self.w0, self.w1, [1, 1], [1, 1])
        conv2d_1 = torch.ops.aten.conv2d.default(y, self.w0, self.w1, [1, 1], [1, 1])
        return (conv2d, conv2d_1)


torch.manual_seed(0)
net = Net().eval()
inputs = (
    torch.randn([1, 4, 8, 8], dtype=torch.float32),
    torch.randn([1, 4, 8, 8], dtype=torch.float32),
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
    sys.exit(0 if str(error).replace("0x:", "0x").endswith("0x1") else 1)
sys.exit(1)
