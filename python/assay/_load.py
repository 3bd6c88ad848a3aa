"""assay.load: a program in an engine as a Python function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from assay import _models, _tensors
from assay._device import place_program
from assay._errors import AssayError
from assay._runner import PROTOCOL, Runner
from assay.toolchain.temporary import TemporaryFolder

_IN_BLOB = MappingProxyType({"inputs": {"in_blob": True, "samples": 1}})


@dataclass(frozen=True)
class Signature:
    """Inputs and outputs of a loaded program, in order."""

    inputs: tuple[_tensors.TensorSpec, ...]
    outputs: tuple[_tensors.TensorSpec, ...]

    def __str__(self) -> str:
        inputs, outputs = (", ".join(map(str, specs)) for specs in (self.inputs, self.outputs))
        return f"({inputs}) -> ({outputs})"


def load(
    model: object,
    *,
    recipe: str | None = None,
    engine: str | None = None,
    method: str = "forward",
    options: Mapping[str, Any] | None = None,
    device: str = "local",
    seed: int = 0,
    example_inputs: Sequence[Any] | None = None,
    data: Sequence[str | Path] = (),
    libraries: Sequence[str | Path] = (),
) -> "LoadedProgram":
    """Loads a program into an engine, in a process of its own.

    Args:
        model: a program file (.pte, …); or a model, which needs a recipe: a reference such as
            "torchvision:mobilenet_v2" or "file.py:factory", a .pt2 file, an ExportedProgram, a
            torch.nn.Module with `example_inputs`, or a pair (module, inputs).
        recipe: how to quantize and lower the model; `assay list recipes`.
        engine: with its build if wanted ("executorch@mine"); by default the recipe's, or the one
            for the file's format.
        method: of the program.
        options: the engine's, such as {"threads": 2}.
        device: "local", or a device of `assay device list`, "ssh:HOST", "adb:SERIAL": the program
            is made here and executes there.
        seed: of random weights.
        example_inputs: inputs to export a module with.
        data: data files of a program file (.ptd).
        libraries: shared libraries with delegates or kernels, loaded before the program.

    Returns:
        A function of tensors, and a context manager that closes it.

    Raises:
        AssayError: with a code and a stage; see its attributes.
    """
    folder = TemporaryFolder("load")
    try:
        reference = _models.reference_from_model(model, example_inputs).ref
        program = _program(reference, recipe, seed, data, folder.path)
        files = [path.absolute() for path in (program.entry, *program.data, *map(Path, libraries))]
        place = place_program(device, engine or _engine_for(program, recipe), files)
        runner = Runner(place.argv, device=place.device, probe=place.probe)
    except BaseException:
        folder.remove()
        raise
    entry, *others = place.files
    request = {
        "entry": entry,
        "data": others[: len(program.data)],
        "method": method,
        "options": dict(options or {}),
        "libraries": others[len(program.data) :],
    }
    return LoadedProgram(runner, request, folder)


class LoadedProgram:
    """A program in a runner process: `f(x)` executes it once.

    numpy arrays give numpy arrays, torch tensors give torch tensors; the results own their memory.
    May be called from several threads, which take turns.

    Attributes:
        signature: names, dtypes and shapes of inputs and outputs.
        effective_options: what the engine made of the options.
        notes: what the engine wants to be known.
    """

    def __init__(self, runner: Runner, request: Mapping[str, Any], folder: TemporaryFolder) -> None:
        self._runner = runner
        self._folder = folder
        try:
            hello = {"protocol_min": PROTOCOL, "protocol_max": PROTOCOL, "program": "assay.load"}
            self.engine, _ = runner.request("hello", hello)
            report, _ = runner.request("load", dict(request))
        except BaseException:
            self.close()
            raise
        self.signature = Signature(
            tuple(_tensors.TensorSpec.from_json(spec) for spec in report["inputs"]),
            tuple(_tensors.TensorSpec.from_json(spec) for spec in report["outputs"]),
        )
        self.effective_options: dict[str, Any] = report["effective_options"]
        self.notes: tuple[str, ...] = tuple(report["notes"])
        self._names = [f"0.{index}" for index in range(len(self.signature.inputs))]

    @property
    def pid(self) -> int:
        """The id of the runner process, for debuggers and profilers."""
        return self._runner.pid

    def __call__(self, *inputs: Any) -> Any:
        """Executes once; a single output comes as it is, several as a tuple.

        Non-contiguous inputs are made contiguous. Nothing is converted.

        Raises:
            AssayError: wrong count, dtype or shape (invalid_argument), the engine failed (engine),
                or the runner died (crashed); after a death every call raises unavailable.
        """
        raws = self._checked(inputs)
        blob = _tensors.bytes_from_tensors(self._names, raws)
        _, answer = self._runner.request("infer", _IN_BLOB, blob)
        make = _maker_for(inputs)
        found = _tensors.tensors_from_bytes(answer)
        outputs = tuple(make(found[f"0.{index}"]) for index in range(len(found)))
        return outputs[0] if len(outputs) == 1 else outputs

    def reset_state(self) -> None:
        """Forgets what earlier calls left in mutable buffers.

        Raises:
            AssayError: the engine cannot (unsupported).
        """
        self._runner.request("reset_state", {})

    def close(self) -> None:
        """Ends the runner and removes temporary files. A second call does nothing."""
        self._runner.close()
        self._folder.remove()

    def __enter__(self) -> "LoadedProgram":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "" if self._runner.device == "local" else f" on device '{self._runner.device}'"
        return f"<assay program {self.signature} in {self._runner.name}{where}>"

    def _checked(self, inputs: Sequence[Any]) -> list[_tensors.RawTensor]:
        specs = self.signature.inputs
        if len(inputs) != len(specs):
            raise AssayError(
                f"{len(inputs)} inputs for {self.signature}; it takes {len(specs)}",
                code="invalid_argument",
            )
        raws = []
        for index, (value, spec) in enumerate(zip(inputs, specs, strict=True)):
            what = f"input {index} ({spec.name})"
            raw = _tensors.raw_from_value(value, what)
            if raw.dtype != spec.dtype:
                raise AssayError(
                    f"{what} is {raw.dtype}, the program takes {spec.dtype}; convert it first",
                    code="invalid_argument",
                )
            raws.append(raw)
        return raws


def _maker_for(inputs: Sequence[Any]) -> Callable[[_tensors.RawTensor], Any]:
    """Outputs are of the inputs' kind; torch's when one of them is."""
    if any(_tensors.is_torch_tensor(value) for value in inputs):
        return _tensors.tensor_from_raw
    return _tensors.array_from_raw


def _program(
    reference: str, recipe: str | None, seed: int, data: Sequence[str | Path], folder: Path
) -> _models.Program:
    if _models.program_ending(reference) is not None:
        if recipe is not None:
            raise AssayError(
                f"{reference} is a finished program; recipe='{recipe}' is for models",
                code="invalid_argument",
            )
        if not Path(reference).is_file():
            raise AssayError(f"no program file '{reference}'", code="not_found")
        return _models.Program(Path(reference), tuple(Path(path) for path in data))
    if recipe is None:
        raise AssayError(
            f"{reference} is a model: pass recipe=, such as 'executorch/xnnpack-fp32' "
            "(assay list recipes)",
            code="invalid_argument",
        )
    return _models.make_program(reference, recipe=recipe, seed=seed, folder=folder)


def _engine_for(program: _models.Program, recipe: str | None) -> str:
    if recipe is not None:
        return recipe.partition("/")[0]
    ending = _models.program_ending(program.entry.name)
    assert ending is not None
    return _models.ENGINE_OF_ENDING[ending]
