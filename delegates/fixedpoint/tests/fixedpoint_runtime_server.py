"""Runs programs in ExecuTorch's runtime, each in a process of its own that has its imports done.

Python, torch and ExecuTorch take seconds to start, a fork of them takes milliseconds.

    python fixedpoint_runtime_server.py LIBRARY

Each line of the input is a request: {"function": NAME, "arguments": [...], "log": FILE}. Its
answer is a line, the exit code; what the function prints and its errors are in the log.
"""

import ctypes
import json
import os
import sys
import traceback
from pathlib import Path

ctypes.CDLL(sys.argv[1])  # Before the runtime, which it registers the delegate with.

import executorch.kernels.quantized  # noqa: E402, F401  conversions beside the delegate
import torch  # noqa: E402
from executorch.devtools import Inspector  # noqa: E402
from executorch.extension.pybindings import portable_lib  # noqa: E402


def run_with_events(program, inputs, outputs, events, threads):
    """Runs a program once; keeps its outputs, and prints the names of the delegate's events."""
    portable_lib._unsafe_reset_threadpool(threads)
    assert portable_lib._threadpool_get_thread_count() == threads
    text = Path(program).read_bytes()  # has to live as long as the module
    module = portable_lib._load_for_executorch_from_buffer(text, enable_etdump=True)
    made = module.run_method("forward", torch.load(inputs))
    torch.save([x.clone() for x in made], outputs)
    module.write_etdump_result_to_file(events)
    table = Inspector(etdump_path=events).to_dataframe()
    delegated = table[table["is_delegated_op"] == True]  # noqa: E712  where it is not None either
    print(json.dumps([str(name) for name in delegated["event_name"]]))


def run_calls(*folders):
    """Runs the calls of each folder's in.pt with its net.pte; keeps the outputs in out.pt."""
    for folder in map(Path, folders):
        text = (folder / "net.pte").read_bytes()  # has to live as long as the module
        module = portable_lib._load_for_executorch_from_buffer(text)
        outputs = [module.run_method("forward", inputs) for inputs in torch.load(folder / "in.pt")]
        torch.save([[x.clone() for x in made] for made in outputs], folder / "out.pt")


def read_constants(program):
    """Prints what a program's methods without inputs give, by name."""
    module = portable_lib._load_for_executorch(program)
    names = [name for name in module.method_names() if name != "forward"]
    print(json.dumps({name: module.run_method(name, ())[0] for name in names}))


def become(request):
    """Executes a request; ends the process."""
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    code = 1
    try:
        globals()[request["function"]](*request["arguments"])
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main():
    """Serves until the input ends."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(json.loads(line))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(code, flush=True)


if __name__ == "__main__":
    main()
