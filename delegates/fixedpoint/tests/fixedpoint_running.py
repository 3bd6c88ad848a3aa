"""Programs beside the reference, in ExecuTorch's runtime, and as Assay describes them."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

RUN = """
import ctypes, json, sys
import numpy as np
ctypes.CDLL(sys.argv[1])
import executorch.kernels.quantized
from executorch.extension.pybindings import portable_lib
import torch
portable_lib._unsafe_reset_threadpool(int(sys.argv[6]))
assert portable_lib._threadpool_get_thread_count() == int(sys.argv[6])
program = open(sys.argv[2], "rb").read()
module = portable_lib._load_for_executorch_from_buffer(program, enable_etdump=True)
inputs = torch.load(sys.argv[3])
outputs = module.run_method("forward", inputs)
torch.save([x.clone() for x in outputs], sys.argv[4])
module.write_etdump_result_to_file(sys.argv[5])
from executorch.devtools import Inspector
events = Inspector(etdump_path=sys.argv[5]).to_dataframe()
print(json.dumps([str(n) for n in events[events["is_delegated_op"] == True]["event_name"]]))
"""


def check_every_tensor(library, program, blob, inputs):
    """Holds each tensor, on each instruction set, against the reference, bit by bit."""
    from fixedpoint import evaluate

    expected = [made for _, made in evaluate.steps(program, inputs)]
    for isa in library.isa_names():
        seen = {}
        library.run(program, blob, inputs, isa, lambda i, made, seen=seen: seen.update({i: made}))
        assert sorted(seen) == list(range(len(expected)))
        for i, values in enumerate(expected):
            np.testing.assert_array_equal(seen[i], values.reshape(-1), err_msg=f"{isa} {i}")


def run_in_executorch(library_path, program, inputs, folder, threads=1):
    """Outputs and names of the delegate's events, in a process of its own."""
    (folder / "program.pte").write_bytes(program)
    torch.save(list(inputs), folder / "inputs.pt")
    files = [folder / name for name in ("program.pte", "inputs.pt", "outputs.pt", "events.etdp")]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, library_path, *files, str(threads)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return torch.load(files[2]), json.loads(done.stdout.splitlines()[-1])


def methods_in_manifest(quantized, folder):
    """By name, of a program that takes and gives integers."""
    pytest.importorskip("assay.toolchain")
    from assay.toolchain.flows.executorch.edge import lower_edge, serialize
    from assay.toolchain.flows.executorch.manifest import describe_program
    from fixedpoint.partitioner import FixedPointPartitioner

    partitioner = FixedPointPartitioner(boundary="int8", require_integer=True)
    lowered = lower_edge(quantized, partitioner, None, {"quantized_io": True})
    described = describe_program(quantized, serialize(lowered, folder))
    return {method["name"]: method for method in described["methods"]}
