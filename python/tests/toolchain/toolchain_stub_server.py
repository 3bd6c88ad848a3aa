"""The fork server with stub jobs and no toolchain, for tests of the process contract."""

import importlib
import os
import sys
import time

from assay.toolchain.errors import Unsupported
from assay.toolchain.server import jobs
from assay.toolchain.server.server import Server, take_stdout


def echo(request, stages):
    with stages.stage("model"):
        print("noise on stdout")
        time.sleep(request.get("seconds", 0))
    return {"value": request.get("value"), "text": "x" * request.get("size", 0)}


def refuse(request, stages):
    with stages.stage("lower"):
        raise Unsupported("this backend does not do that")


def bug(request, stages):
    raise KeyError("a bug of ours")


def load(request, stages):
    """Lists the modules among some that are there before the job imports them."""
    there = [name for name in request["modules"] if name in sys.modules]
    for name in request["modules"]:
        importlib.import_module(name)
    if "error" in request:
        raise Unsupported(request["error"])
    return {"there": there}


def build(request, stages):
    """Calls `read` of a Python file, as a factory is called."""
    from assay.toolchain.models.plugins import import_object

    import_object(f"{request['factory']}:read")()
    return {}


def leave(request, stages):
    with stages.stage("export"):
        os._exit(7)


jobs.JOBS.clear()
jobs.JOBS.update(echo=echo, refuse=refuse, bug=bug, leave=leave, load=load, build=build)
sys.exit(Server(jobs=int(sys.argv[1]), requests=0, wire=take_stdout()).serve())
