"""The file next to a program that says what its inputs and outputs are to the model.

For formats that know tensors of integers and no scales: which of the program's values is which of
the model's, its type there, and how it is quantized.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = "program.io.json"
SCHEMA = "assay/program-ports/1"


@dataclass(frozen=True)
class ProgramPort:
    """A value of the model: the program's value at `place` holds it.

    `dtype`: as the model has it; the program may compute with another integer type.
    `quantization`: {scale, zero_point, quant_min, quant_max, dtype}; None for plain values.
    """

    name: str
    place: int
    dtype: str
    shape: tuple[int, ...]
    quantization: dict[str, Any] | None = None


@dataclass(frozen=True)
class ProgramPorts:
    """All inputs and outputs of the model, in its order."""

    inputs: tuple[ProgramPort, ...]
    outputs: tuple[ProgramPort, ...]


def write_ports(folder: Path, ports: ProgramPorts) -> Path:
    """Writes the file."""
    path = folder / FILE
    path.write_text(json.dumps({"schema": SCHEMA, **asdict(ports)}, indent=1) + "\n")
    return path


def read_ports(program: Path) -> ProgramPorts | None:
    """The file beside `program`; None if there is none.

    Raises:
        ValueError: it is not what write_ports writes.
    """
    path = program.parent / FILE
    if not path.exists():
        return None
    try:
        document = json.loads(path.read_text())
        if document["schema"] != SCHEMA:
            raise ValueError(f"its schema is {document['schema']}, not {SCHEMA}")
        return ProgramPorts(_ports(document["inputs"]), _ports(document["outputs"]))
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _ports(documents: Sequence[dict[str, Any]]) -> tuple[ProgramPort, ...]:
    return tuple(
        ProgramPort(
            entry["name"],
            entry["place"],
            entry["dtype"],
            tuple(entry["shape"]),
            entry["quantization"],
        )
        for entry in documents
    )
