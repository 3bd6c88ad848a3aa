"""Abs of Range in OpenVINO itself.

openvino 2026.4.1.

The absolute value of a range of constants is taken for the range: abs(-1, 0, 1) is -1, 0, 1.
Indices of reflected elements are computed so (openvino_reflection_pad.py).

The exit code is 0 if the failure is there.
"""

import sys

import numpy
import openvino
from openvino import opset13

x = opset13.parameter([3], numpy.float32)
ends = [opset13.constant(numpy.float32(value)) for value in (-1, 2, 1)]
whole = opset13.range(*ends, output_type="f32")
model = openvino.Model([opset13.add(x, opset13.abs(whole))], [x], "net")
compiled = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
found = compiled([numpy.zeros(3, numpy.float32)])[0].tolist()
expected = [1.0, 0.0, 1.0]
print("found", found, "expected", expected)
sys.exit(0 if found != expected else 1)
