"""Programs beside the reference, in ExecuTorch's runtime, and as Assay describes them."""

import functools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

SERVER = Path(__file__).with_name("fixedpoint_runtime_server.py")


@functools.cache
def _start_server(library_path):
    """The server of a library, which ends with this process."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", SERVER, library_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run_in_process(library_path, folder, function, *arguments):
    """A function of the server in a process of its own; what it printed."""
    server = _start_server(library_path)
    log = folder / "runtime.log"
    request = {"function": function, "arguments": arguments, "log": log}
    server.stdin.write(json.dumps(request, default=str) + "\n")
    server.stdin.flush()
    code = server.stdout.readline().strip()
    printed = log.read_text(errors="replace")
    assert code == "0", f"exit code {code}: {printed[-3000:]}"
    return printed


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
    printed = run_in_process(library_path, folder, "run_with_events", *files, threads)
    return torch.load(files[2]), json.loads(printed.splitlines()[-1])


def methods_in_manifest(quantized, folder):
    """Values by name, of a program that takes and gives integers."""
    pytest.importorskip("assay.toolchain")
    from assay.toolchain.flows.executorch.edge import lower_edge, serialize
    from assay.toolchain.flows.executorch.manifest import describe_program
    from fixedpoint.partitioner import FixedPointPartitioner

    partitioner = FixedPointPartitioner(boundary="int8", require_integer=True)
    lowered = lower_edge(quantized, partitioner, None, {"quantized_io": True})
    described = describe_program(quantized, serialize(lowered, folder))
    return {method["name"]: method for method in described["methods"]}
