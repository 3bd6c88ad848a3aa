"""AOTInductor: the exported program compiled to a shared library, in a package with its weights.

The compiler sees this machine: what it makes runs on CPUs that have the same instruction set.
"""

import json
import os
import re
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from assay.toolchain.errors import MissingDependency, RequestError
from assay.toolchain.flows import torch_export
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.program_manifest import Source, describe_source, describe_whole
from assay.toolchain.formats import AOTI_ENDING
from assay.toolchain.graph.written_inputs import find_written_inputs
from assay.toolchain.suggest import check_keys
from assay.toolchain.temporary import TemporaryFolder
from assay.toolchain.types import Lowering

PROGRAM = "program" + AOTI_ENDING
SIGNATURE = "assay_io"
"""Key of the package's metadata: its inputs and outputs."""

OPTIONS = {"threads": int, "freezing": bool, "max_autotune": bool}
"""`threads`: the loops are compiled for so many; without it they follow the run's.

`freezing`: weights are folded ahead of time. `max_autotune`: kernels are tried out, for minutes.
"""

_CALL = re.compile(
    r"^ *(?:AOTI_TORCH_ERROR_CODE_CHECK\()?"
    r"(cpp_fused|aoti_torch_cpu_\w+|aoti_torch_proxy_executor_call_function)\w*\(",
    re.MULTILINE,
)
"""Calls in the generated wrapper: of a compiled kernel, of one of PyTorch's, of anything else."""


def _check(lowering: Lowering) -> None:
    check_keys("option of the aoti lowering", lowering.options, OPTIONS)
    for key, value in lowering.options.items():
        if type(value) is not OPTIONS[key]:
            raise RequestError(f"{key} takes {OPTIONS[key].__name__}, not {value!r}")
    if lowering.options.get("threads", 1) < 1:
        raise RequestError(f"threads takes 1 or more, not {lowering.options['threads']}")


def _find_missing(lowering: Lowering) -> str | None:
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is not None:
        return None
    return f"AOTInductor compiles C++ and finds no {compiler}: install g++, or name another in CXX"


def inductor_options(options: dict[str, Any]) -> dict[str, Any]:
    """Inductor's names for the options of a lowering."""
    threads = options.get("threads")
    chosen: dict[str, Any] = {
        key: options[key] for key in OPTIONS if key in options and key != "threads"
    }
    if threads is None:
        return {**chosen, "cpp.dynamic_threads": True}
    return {**chosen, "cpp.threads": threads}


def _make(job: LoweringJob) -> LoweringOutput:
    if (missing := _find_missing(job.lowering)) is not None:
        raise MissingDependency(missing)
    source = describe_source(job.exported, job.parts)
    with TemporaryFolder("aoti") as scratch:
        path = (job.folder or scratch) / PROGRAM
        with job.stages.stage("lower"):
            signature = signature_from_source(source, find_written_inputs(job.exported))
            compile_package(job.exported, job.lowering.options, path, signature)
        files = [] if job.folder is None else [path]
        program = describe_whole(source, files, made=count_calls(path))
        return files, {**program, "compiled_for": compiled_for(path)}


def signature_from_source(source: Source, written: list[int]) -> str:
    """Inputs and outputs as JSON, which a package does not tell by itself.

    `written`: places of the inputs that it writes to.
    """
    keys = ("name", "dtype", "shape")
    sides = {"inputs": source.inputs, "outputs": source.outputs}
    ports = {
        side: [{key: value[key] for key in keys} for value in values]
        for side, values in sides.items()
    }
    return json.dumps({**ports, "written": written})


def compile_package(exported: Any, options: dict[str, Any], path: Path, signature: str) -> None:
    """Compiles the program, on one thread and without what earlier compilations left.

    `signature` goes into the package's metadata, where the engine looks for it.
    """
    import torch
    from torch._inductor import config
    from torch._inductor.utils import fresh_cache

    with torch.no_grad(), fresh_cache(), config.patch(compile_threads=1):
        torch._inductor.aoti_compile_and_package(
            exported,
            package_path=str(path),
            inductor_configs={
                **inductor_options(options),
                "aot_inductor.metadata": {SIGNATURE: signature},
            },
        )


def count_calls(path: Path) -> Counter[str]:
    """Counts the calls of an inference: compiled kernels, and PyTorch's kernels by name."""
    return Counter(
        name
        for text in _members(path, ".wrapper.cpp").values()
        for name in _CALL.findall(text.decode())
    )


def compiled_for(path: Path) -> dict[str, Any]:
    """The machine that the package is for: {platform, machine, isa}."""
    document = next(iter(_members(path, ".wrapper_metadata.json").values()), b"{}")
    metadata = json.loads(document)
    keys = {"platform": "AOTI_PLATFORM", "machine": "AOTI_MACHINE", "isa": "AOTI_CPU_ISA"}
    return {key: metadata.get(name) for key, name in keys.items()}


def member_sizes(path: Path) -> dict[str, int]:
    """The sizes of the package's members in bytes, by name."""
    with zipfile.ZipFile(path) as package:
        return {entry.filename: entry.file_size for entry in package.infolist()}


def _members(path: Path, ending: str) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist() if name.endswith(ending)}


FLOW = Flow(
    name="aoti",
    engine="torch",
    product="aoti",
    make=_make,
    check=_check,
    needs=("torch",),
    export=torch_export.export,
    find_missing=_find_missing,
)
