"""The interface of an engine in Python, and the records that it hands to the runner's loop."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Option:
    """One option that an engine takes; `values`: the allowed ones, empty for any of the type.

    `type` is "int" (from `minimum` to `maximum`), "bool" or "string"; `scope` "load" or "run".
    """

    name: str
    type: str
    description: str
    values: Sequence[Any] = ()
    minimum: int | None = None
    maximum: int | None = None
    default_value: Any = None
    scope: str = "load"


THREADS = Option(
    "threads",
    "int",
    "Threads that compute; default: the engine's own choice.",
    minimum=1,
    maximum=1024,
)
"""The option that every engine with a pool of threads has."""

INPUT_SHAPES = Option(
    "input_shapes", "string", "Binds dynamic dimensions: x:1x3x224x224;mask:1x16."
)
"""The option of engines that load programs with dynamic dimensions: loading.parse_input_shapes."""


@dataclass(frozen=True)
class Description:
    """Describes an engine. `build_id` changes with the engine's files.

    `formats` are what it loads: "pte", "onnx", "tflite", …; `tags` the powers that its sessions may
    have: "profiler", "memory".
    """

    name: str
    version: str
    build_id: str
    formats: Sequence[str]
    options: Sequence[Option] = ()
    backends: Sequence[Mapping[str, Any]] = ()
    tags: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class LoadRequest:
    """A program to load. `options` are checked against the description, with defaults filled in.

    `data`: files that belong to the program; `libraries`: the user's own, to load first.
    """

    entry: Path
    data: Sequence[Path] = ()
    method: str = "forward"
    options: Mapping[str, Any] = field(default_factory=dict)
    libraries: Sequence[Path] = ()


@dataclass(frozen=True)
class TensorSpec:
    """An input or output; -1 for a dimension that only the inputs decide.

    `quantization` {scales, zero_points, axis} of an integer tensor that stands for real values:
    value = (stored - zero_point) * scale, one scale or one for each index along the axis (-1: one).
    Assay then gives quantized inputs and reads outputs as real values.
    """

    name: str
    dtype: str
    shape: Sequence[int]
    quantization: Mapping[str, Any] | None = None


@dataclass
class LoadReport:
    """Describes a loaded session.

    `stages`: what each step of loading took, ns; their sum is the load time. `effective_options`:
    read back from the engine where it tells them; `notes` say in sentences what is not as asked.
    `declared_memory`: bytes by name, as the engine tells them. `emulator`: what executes in place
    of the hardware that the program is made for; its times are marked, and not ranked.
    """

    inputs: Sequence[TensorSpec]
    outputs: Sequence[TensorSpec]
    stages: Mapping[str, int]
    effective_options: Mapping[str, Any] = field(default_factory=dict)
    declared_memory: Mapping[str, int] = field(default_factory=dict)
    backends: Sequence[str] = ()
    emulator: str = ""
    notes: Sequence[str] = ()


class Session(ABC):
    """A program loaded in an engine. The three steps are timed apart: bind | execute | fetch.

    May also have `reset_state()`; `declared_memory() -> dict[str, int]`, bytes now; and a profiler:
    `start_profile()` and `stop_profile(iterations)`, which returns what
    `assay.engines.profile.report_from_runs` makes.
    """

    report: LoadReport

    @abstractmethod
    def bind(self, inputs: Sequence[Array]) -> None:
        """Gives the engine its inputs: one array for each of report.inputs, of its type and shape.

        The arrays stay alive, and their content as it is, until the next bind. bfloat16 comes as
        uint16. What a copy costs belongs here.
        """

    @abstractmethod
    def execute(self) -> None:
        """Computes the outputs, to the end. Nothing of an earlier fetch is looked at any more."""

    @abstractmethod
    def fetch(self) -> Sequence[Any]:
        """The outputs as arrays or tensors on the CPU, valid until the next execute.

        What is not contiguous is copied, in the time of fetch.
        """


class Engine(ABC):
    """Loads programs. One object a process.

    Errors are `AssayError` with the code that says what the caller can do: "not_found" and
    "corrupt" for files, "unavailable" for what is missing (with the way to get it), "unsupported"
    for a declared refusal, "invalid_argument" for the request. Anything else that is raised counts
    as the engine's own failure.
    """

    def prepare(self) -> None:
        """Imports what the engine needs, before anything is measured.

        Raises:
            AssayError: unavailable, with the way to get it.
        """
        return None

    @abstractmethod
    def describe(self) -> Description:
        """Describes this engine. Takes milliseconds: reads versions, and imports no engine.

        Raises:
            AssayError: unavailable, with the way to get it.
        """

    @abstractmethod
    def load(self, request: LoadRequest) -> Session:
        """Loads a program; destroying the session unloads it."""
