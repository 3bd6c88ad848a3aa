"""The jobs of the fork server, each a function of its request."""

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.toolchain.errors import RequestError, failure_from_error
from assay.toolchain.server.model_families import FAMILIES
from assay.toolchain.stages import Emit, StageLog
from assay.toolchain.suggest import check_keys, unknown_name

Request = Mapping[str, Any]
_COMMON = ("id", "job", "timeout_ns", "memory_limit_bytes", "out_dir")


def run_job(request: Request, emit: Emit) -> dict[str, Any]:
    """Runs a request and returns its done event, whatever happens in it."""
    stages = StageLog(emit)
    try:
        name = str(request.get("job"))
        if name not in JOBS:
            raise RequestError(unknown_name("job", name, JOBS))
        result = JOBS[name](request, stages)
    except BaseException as error:
        traceback.print_exc()
        failure = failure_from_error(error, stages.current)
        result = {"stages": stages.to_json()}
        return {"event": "done", **failure, "stage": stages.current, "result": result}
    done = {"outcome": "completed", "stage": stages.current, "reason_code": None, "text": ""}
    return {"event": "done", **done, "result": result}


def build(request: Request, stages: StageLog) -> dict[str, Any]:
    """Makes a program and its manifest in out_dir."""
    from assay.toolchain.programs.build import build as run

    check_keys(
        "key of a build",
        request,
        (*_COMMON, "model", "recipe", "calibration", "stop_after", "layers", "pieces"),
    )
    return run(
        model=required(request, "model"),
        recipe=required(request, "recipe"),
        stop_after=request.get("stop_after"),
        stages=stages,
        **_shared_arguments(request),
    )


def reference(request: Request, stages: StageLog) -> dict[str, Any]:
    """Computes expected outputs and writes them to out_dir."""
    from assay.toolchain.reference.reference import make_reference

    keys = ("model", "quantization", "lowering", "kind", "inputs", "calibration")
    check_keys("key of a reference", request, (*_COMMON, *keys, "layers", "pieces"))
    return make_reference(
        model=required(request, "model"),
        quantization=request.get("quantization"),
        lowering=request.get("lowering"),
        kind=str(request.get("kind", "float32")),
        inputs=required(request, "inputs"),
        stages=stages,
        **_shared_arguments(request),
    )


def stimulus(request: Request, stages: StageLog) -> dict[str, Any]:
    """Writes the inputs of a finished program, and what is expected of them, to out_dir."""
    from assay.toolchain.programs.program_inputs import make_stimulus

    check_keys("key of a stimulus", request, (*_COMMON, "program", "kind", "inputs"))
    return make_stimulus(
        program=required(request, "program"),
        kind=str(request.get("kind", "inputs")),
        inputs=required(request, "inputs"),
        folder=get_folder(request),
        stages=stages,
    )


def inspect(request: Request, stages: StageLog) -> dict[str, Any]:
    """Describes a program file."""
    from assay.toolchain.programs.inspection import inspect_file

    check_keys("key of an inspection", request, (*_COMMON, "file"))
    return inspect_file(Path(str(required(request, "file"))))


def list_known(request: Request, stages: StageLog) -> dict[str, Any]:
    """Lists models or recipes with their availability."""
    from assay.toolchain.recipes import catalog

    check_keys("key of a list", request, (*_COMMON, "what"))
    return catalog.list_known(str(required(request, "what")))


def conform(request: Request, stages: StageLog) -> dict[str, Any]:
    """Lists the cases of a conformance suite, and what it covers."""
    from assay.conformance.listing import list_cases

    known = ("suite", "tier", "match", "dtypes", "seed", "count")
    check_keys("key of a conformance list", request, (*_COMMON, *known))
    return list_cases(
        str(request.get("suite", "operators")),
        str(request.get("tier", "quick")),
        list(request.get("match") or []),
        request.get("dtypes"),
        seed=int(request.get("seed", 0)),
        count=int(request.get("count", 100)),
    )


def nodes(request: Request, stages: StageLog) -> dict[str, Any]:
    """Lists the operators of a model, of which a piece is a subset."""
    from assay.reduction.subgraph import list_nodes

    check_keys("key of a list of nodes", request, (*_COMMON, "model"))
    return list_nodes(required(request, "model"), FAMILIES)


def script(request: Request, stages: StageLog) -> dict[str, Any]:
    """Writes a script that shows a failure without Assay to out_dir, if it can be written."""
    from assay.reduction.script import finding_from_json, write_script

    known = ("model", "recipe", "finding", "check", "reference", "name")
    check_keys("key of a script", request, (*_COMMON, *known))
    return write_script(
        model=required(request, "model"),
        recipe=required(request, "recipe"),
        finding=finding_from_json(required(request, "finding"), str(request.get("check"))),
        reference=request.get("reference"),
        name=str(request.get("name") or ""),
        folder=get_folder(request),
        families=FAMILIES,
    )


def _shared_arguments(request: Request) -> dict[str, Any]:
    """The arguments that building a program and computing a reference share."""
    return {
        "calibration": request.get("calibration"),
        "folder": get_folder(request),
        "with_layers": bool(request.get("layers")),
        "pieces": get_pieces(request),
        "families": FAMILIES,
    }


def get_folder(request: Request) -> Path:
    """The request's out_dir, made where it does not exist."""
    folder = Path(str(required(request, "out_dir")))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def get_pieces(request: Request) -> tuple[str, ...]:
    """The layers that stand for the whole network, by name; "*": all. Mostly none."""
    pieces = request.get("pieces") or ()
    if isinstance(pieces, str) or not all(isinstance(name, str) for name in pieces):
        raise RequestError('"pieces" is a list of layers, or ["*"] for all of them')
    return tuple(pieces)


def required(request: Request, key: str) -> Any:
    """The request's value of a key that has no default."""
    if request.get(key) is None:
        raise RequestError(f'the request lacks "{key}"')
    return request[key]


JOBS: dict[str, Callable[[Request, StageLog], dict[str, Any]]] = {
    "build": build,
    "reference": reference,
    "stimulus": stimulus,
    "inspect": inspect,
    "list": list_known,
    "conform": conform,
    "nodes": nodes,
    "script": script,
}
