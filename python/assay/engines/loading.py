"""Steps that loading a program has in every engine."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from assay._errors import AssayError
from assay.engines.base import TensorSpec
from assay.engines.profile import clock_ns


class Stages:
    """Times the steps of loading: `with stages("read"): …`."""

    def __init__(self) -> None:
        self.ns: dict[str, int] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Times the body as the step `name`."""
        start = clock_ns()
        yield
        self.ns[name] = clock_ns() - start


def check_program(path: Path, endings: Sequence[str], engine: str) -> None:
    """Tells what can be told before the engine reads the file.

    Raises:
        AssayError: not_found, corrupt for an empty file, invalid_argument for another kind.
    """
    if not path.name.endswith(tuple(endings)):
        raise AssayError(f"{path}: {engine} loads {' and '.join(endings)}", code="invalid_argument")
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise AssayError(f"{path}: no such file", code="not_found") from None
    except OSError as error:
        raise AssayError(f"{path}: {error.strerror}", code="unavailable") from error
    if size == 0:
        raise AssayError(f"{path} is empty; make it again", code="corrupt")


def check_method(method: str, engine: str) -> None:
    """Refuses methods in engines whose programs have one.

    Raises:
        AssayError: not_found.
    """
    if method != "forward":
        raise AssayError(
            f"no method '{method}'; a program of {engine} has one, called forward",
            code="not_found",
        )


def refuse_libraries(libraries: Sequence[Path], engine: str) -> None:
    """Refuses libraries, for engines that cannot be extended.

    Raises:
        AssayError: unsupported.
    """
    if libraries:
        raise AssayError(f"{engine} takes no libraries of the user's", code="unsupported")


_SHAPE = re.compile(r"(?:(?P<name>.*):)?(?P<shape>[1-9]\d*(?:x[1-9]\d*)*)")


def parse_input_shapes(text: str, names: Sequence[str]) -> dict[str, list[int]]:
    """Reads the option input_shapes, "x:1x3x224x224;mask:1x16", or a shape for the only input.

    Raises:
        AssayError: invalid_argument, naming the inputs.
    """
    shapes: dict[str, list[int]] = {}
    for entry in filter(None, text.split(";")):
        match = _SHAPE.fullmatch(entry)
        if match is None:
            raise AssayError(
                f"'{entry}' is no shape: write sizes with x between, 1x3x224x224",
                code="invalid_argument",
            )
        name = match["name"] or (names[0] if len(names) == 1 else "")
        if name not in names:
            raise AssayError(
                f"input_shapes names '{name}'; the program's inputs: {', '.join(names)}",
                code="invalid_argument",
            )
        shapes[name] = [int(size) for size in match["shape"].split("x")]
    return shapes


def bind_shapes(
    specs: Sequence[TensorSpec], shapes: Mapping[str, Sequence[int]]
) -> list[TensorSpec]:
    """The specs with the dimensions that were given.

    Raises:
        AssayError: invalid_argument where the program does not take them.
    """
    return [
        TensorSpec(spec.name, spec.dtype, _bound(spec, shapes.get(spec.name))) for spec in specs
    ]


def _bound(spec: TensorSpec, shape: Sequence[int] | None) -> Sequence[int]:
    if shape is None:
        return spec.shape
    fits = len(shape) == len(spec.shape) and all(
        known in (-1, size) for known, size in zip(spec.shape, shape, strict=True)
    )
    if not fits:
        raise AssayError(
            f"input '{spec.name}' is {text_from_shape(spec.shape)}; it cannot be "
            f"{text_from_shape(shape)}",
            code="invalid_argument",
        )
    return shape


def text_from_shape(shape: Sequence[int]) -> str:
    """Writes a shape as "1x3x?x?"; "scalar" for no dimension."""
    return "x".join("?" if size < 0 else str(size) for size in shape) or "scalar"


def is_static(spec: TensorSpec) -> bool:
    """True if every dimension is known."""
    return all(size >= 0 for size in spec.shape)
