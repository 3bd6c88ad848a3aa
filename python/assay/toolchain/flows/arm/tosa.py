"""Lowering to a TOSA program, for the reference model: ExecuTorch's TOSA partitioner.

TOSA is what Arm's other backends compile from, so its results are theirs up to their compilers.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import RequestError
from assay.toolchain.file_formats.program_ports import write_ports
from assay.toolchain.file_formats.tosa import read_program
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.executorch.flows import evaluate_lowered
from assay.toolchain.flows.program_manifest import describe_source, describe_whole
from assay.toolchain.suggest import check_keys
from assay.toolchain.types import Lowering

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    import torch

    from assay.toolchain.flows.arm.whole_program import WholeProgram
    from assay.toolchain.flows.executorch.edge import Lowered

NAME = "tosa"
PROGRAM = "program.tosa"
BACKEND = "TOSABackend"
DEFAULT_SPECIFICATION = "TOSA-1.0+FP"
OPTIONS = ("specification",)
"""`specification`: version, profiles and extensions, as ExecuTorch writes them: TOSA-1.0+INT."""


def check_specification(lowering: Lowering) -> None:
    """Refuses other options, and what begins like no specification.

    Raises:
        RequestError: as it says.
    """
    check_keys(f"option of the {lowering.flow} lowering", lowering.options, OPTIONS)
    text = lowering.options.get("specification", DEFAULT_SPECIFICATION)
    if not isinstance(text, str) or not text.startswith("TOSA-"):
        raise RequestError(f"specification takes a text such as TOSA-1.0+INT, not {text!r}")


def make_compile_spec(kind: "Callable[[str], Any]", lowering: Lowering) -> Any:
    """A compile spec of ExecuTorch's for the lowering's specification.

    Raises:
        RequestError: there is no such specification.
    """
    specification = lowering.options.get("specification", DEFAULT_SPECIFICATION)
    try:
        return kind(specification)
    except ValueError as error:
        raise RequestError(f"no TOSA specification '{specification}': {error}") from error


def lower(exported: "torch.export.ExportedProgram", lowering: Lowering) -> "Lowered":
    """The edge program with its TOSA delegates."""
    from assay.toolchain.flows.arm.partitioning import import_arm, lower_with

    specs = import_arm("arm.tosa.compile_spec", NAME)
    partitioners = import_arm("arm.tosa.partitioner", NAME)
    compile_spec = make_compile_spec(specs.TosaCompileSpec, lowering)
    return lower_with(exported, partitioners.TOSAPartitioner(compile_spec), NAME)


def make_whole(
    lower_program: "Callable[[Any, Lowering], Lowered]",
    backend: str,
    name: str,
    count_operators: "Callable[[bytes], Counter[str]] | None",
    job: LoweringJob,
) -> LoweringOutput:
    """The file `name` with the one delegate of `backend` that the whole program became.

    `count_operators`: the operators of such a file, for the manifest; None: it does not tell.
    """
    from assay.toolchain.flows.arm.whole_program import (
        refuse_open_sizes,
        take_whole,
        values_from_ports,
    )

    source = describe_source(job.exported, job.parts)
    refuse_open_sizes(source)
    whole = take_whole(job.lower(lower_program), backend, source)
    files = job.serialize(partial(_serialize, whole, name))
    program = describe_whole(
        source,
        files,
        made=None if count_operators is None else count_operators(whole.content),
        inputs=values_from_ports(whole.ports.inputs),
        outputs=values_from_ports(whole.ports.outputs),
    )
    return files, {**program, **whole.delegation}


def _count_operators(content: bytes) -> "Counter[str]":
    return read_program(content).operators


def _serialize(whole: "WholeProgram", name: str, folder: Path) -> list[Path]:
    """Writes the program, and next to it what its values are to the model."""
    path = folder / name
    path.write_bytes(whole.content)
    return [path, write_ports(folder, whole.ports)]


FLOW = Flow(
    name=NAME,
    engine="tosa",
    product="tosa",
    make=partial(make_whole, lower, BACKEND, PROGRAM, _count_operators),
    check=check_specification,
    needs=("executorch", "tosa_serializer", "tosa_reference_model"),
    eager=partial(evaluate_lowered, lower),
)
