"""ONNX Runtime without Assay: make a session, then infer N times on one thread.

    python bare_onnxruntime_loop.py PROGRAM.onnx N

Prints what each inference took, in nanoseconds, a line each; inputs and outputs are bound once, the
inputs are ones. The counterpart of assay-runner-onnxruntime in compare_engine_loops.py. For float32
programs of fixed shapes.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import onnxruntime


def main() -> None:
    """Times each inference."""
    path, count = sys.argv[1], int(sys.argv[2])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    inputs = [(given.name, np.ones(given.shape, np.float32)) for given in session.get_inputs()]
    values = [(name, onnxruntime.OrtValue.ortvalue_from_numpy(array)) for name, array in inputs]
    for name, value in values:
        binding.bind_ortvalue_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name, "cpu")
    times_ns = []
    for _ in range(count):
        start = time.perf_counter_ns()
        session.run_with_iobinding(binding)
        times_ns.append(time.perf_counter_ns() - start)
    print("\n".join(map(str, times_ns)))


if __name__ == "__main__":
    main()
