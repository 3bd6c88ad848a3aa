"""An interpreter whose toolchain is imported once for all tests of a process.

A fork server of the toolchain spends five seconds of CPU time on imports, and every `assay` of a
test that makes a program starts one. Here a warm process forks for each of them: the fork gets
the descriptors, the environment, the folder and the arguments of the command, and runs the same
module. The real interpreter runs everything else, and what is in a sandbox.

`find_warm_python()` gives the path to use as `--python` or ASSAY_PYTHON.
"""

import atexit
import contextlib
import ctypes
import functools
import gc
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[1] / "python"
_PR_SET_PDEATHSIG = 1

# Starts in 15 ms: -I leaves environment and user out, -S the site packages.
CLIENT = """#!{python} -IS
import os, socket, sys
def connect():
    try:
        warm = socket.socket(socket.AF_UNIX)
        warm.connect("{address}")
        return warm
    except OSError:  # In a sandbox, which knows no sockets.
        return None
own = os.environ
module = sys.argv[3] if sys.argv[1:2] == ["-c"] and len(sys.argv) > 3 else ""
is_server = module.startswith("assay.") and module.endswith(".server")
is_served = is_server and own.get("PYTHONPATH", "{package}") == "{package}"
warm = connect() if is_served else None
if warm is not None:
    import json, signal
    request = {{"arguments": sys.argv[3:], "environment": dict(own), "cwd": os.getcwd()}}
    request = json.dumps(request)
    with warm:
        socket.send_fds(warm, [len(request.encode()).to_bytes(8, "big")], [0, 1, 2])
        warm.sendall(request.encode())
        answers = warm.makefile()
        child = int(answers.readline())
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: os.kill(child, number))
        sys.exit(int(answers.readline() or 1))
os.execv("{python}", ["{python}", *sys.argv[1:]])
"""


def _become(request: dict, descriptors: list[int]) -> None:
    """Runs the module as if this process had been started for it; ends the process."""
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
    os.closerange(3, 256)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    module, *sys.argv[1:] = request["arguments"]
    status = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(status)


def _receive(connection: socket.socket) -> tuple[dict, list[int]]:
    """A command, and its stdin, stdout and stderr."""
    head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    text = connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
    return json.loads(text), descriptors


def _serve_one(connection: socket.socket, request: dict, descriptors: list[int]) -> None:
    """Forks for one command, tells its process and how it ended; it dies with the command."""
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == keeper:
            _become(request, descriptors)
        os._exit(1)
    for descriptor in descriptors:
        os.close(descriptor)
    connection.sendall(f"{child}\n".encode())
    ended = os.pidfd_open(child)
    watched: list[int | socket.socket] = [ended, connection]
    ready, _, _ = select.select(watched, [], [])
    if ended not in ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(f"{status if status >= 0 else 128 - status}\n".encode())


def _warm_up(module: str) -> None:
    """Runs a fork server that is asked for nothing: it imports all and ends."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    sys.argv[1:] = []
    with contextlib.suppress(SystemExit, Exception):  # The fork fails as the real one would.
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if "torch" in sys.modules:
        # A process sets this once, and the forks, which set it again, inherit it.
        vars(sys.modules["torch"])["set_num_interop_threads"] = lambda threads: None
    gc.collect()
    gc.freeze()


def serve(address: str) -> None:
    """Serves until it is killed; the first command is the model of what is imported."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    is_warm = False
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(16)
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            request, descriptors = _receive(connection)
            if not is_warm:
                _warm_up(request["arguments"][0])
                is_warm = True
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                _serve_one(connection, request, descriptors)
                os._exit(0)
            for descriptor in descriptors:
                os.close(descriptor)
            connection.close()


def _write_client(folder: Path, address: str) -> Path:
    """The interpreter's stand-in, in an environment that has the siblings of the real one."""
    client = folder / ".venv" / "bin" / "python"
    client.parent.mkdir(parents=True)
    known = {"python": sys.executable, "package": PACKAGES, "address": address}
    client.write_text(CLIENT.format_map(known))
    client.chmod(0o755)
    for sibling in Path(sys.prefix).parent.glob(".venv-*"):
        (folder / sibling.name).symlink_to(sibling)
    return client


@functools.cache
def find_warm_python() -> str:
    """The stand-in's path; the first call starts the process that forks, which ends with this."""
    folder = Path(tempfile.mkdtemp(prefix="warm-python-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address = str(folder / "socket")
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")},
        cwd=folder,
        text=True,
    )
    atexit.register(server.kill)
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    return str(_write_client(folder, address))


if __name__ == "__main__":
    serve(sys.argv[1])
