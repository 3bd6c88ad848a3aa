"""Runs Python scripts in forks of a process that has imported what they import.

torch and ExecuTorch take seconds of CPU time to import, which most scripts of tests spend nearly
all of theirs on. Each script is a process of its own, with its own environment and folder.
"""

import ast
import atexit
import contextlib
import functools
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path


def _import(text: str) -> None:
    """Executes the import statements of a script; those that fail do so in the script, too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            with contextlib.suppress(Exception):
                exec(compile(ast.Module([node], []), "imports", "exec"), {})


def _become(script: Path, request: dict) -> None:
    """Executes the script as if this process had been started for it; ends the process."""
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = [str(script), *request["arguments"]]
    sys.path[0] = str(script.parent)
    code = 1
    try:
        runpy.run_path(str(script), run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(code)


def serve() -> None:
    """Serves until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # An import may print, which is no answer.
    for line in sys.stdin:
        request = json.loads(line)
        script = Path(request["script"])
        _import(request["imports"] or script.read_text(encoding="utf-8"))
        child = os.fork()
        if child == 0:
            _become(script, request)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(code, file=answers, flush=True)


@functools.cache
def _start_server(imports: str) -> subprocess.Popen[str]:
    """The process for scripts of the same imports in advance; it ends with this one."""
    server = subprocess.Popen(
        [sys.executable, __file__, imports],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    atexit.register(server.kill)
    return server


def run_script(
    script: Path,
    *arguments: str,
    cwd: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    imports: str = "",
    timeout_s: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Runs a script to its end, as `python SCRIPT` does.

    `imports`: the only statements that are executed in advance, where what a script imports would
    change what it does. Else all that it imports is.
    """
    server = _start_server(imports)
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory(prefix="script-") as name:
        out, err = (Path(name, stream) for stream in ("out", "err"))
        request = {
            **{"script": str(script), "cwd": str(cwd or Path.cwd())},
            **{"environment": dict(environment), "out": str(out), "err": str(err)},
            **{"arguments": arguments, "imports": imports},
        }
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        ready, _, _ = select.select([server.stdout], [], [], timeout_s)
        if not ready:
            _start_server.cache_clear()
            os.killpg(server.pid, signal.SIGKILL)
            raise AssertionError(f"{script} did not end in {timeout_s} s\n{err.read_text()}")
        code = int(server.stdout.readline())
        texts = [stream.read_text(errors="replace") for stream in (out, err)]
    return subprocess.CompletedProcess([str(script)], code, *texts)


if __name__ == "__main__":
    serve()
