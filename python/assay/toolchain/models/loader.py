"""Models by reference: torchvision:NAME, FILE.py:FACTORY, FILE.pt2, or what a plug-in adds."""

import hashlib
import importlib.util
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from assay.toolchain import compat
from assay.toolchain.errors import (
    MissingDependency,
    RequestError,
    is_wrong_use,
    our_work,
    readable_error,
    reading,
)
from assay.toolchain.file_formats.pt2 import load_exported
from assay.toolchain.formats import AOTI_ENDING
from assay.toolchain.models import weight_init
from assay.toolchain.models.inputs import (
    generate_sample,
    input_spec_from_json,
    seed_generators,
    spec_from_tensor,
)
from assay.toolchain.models.plugins import import_file, load_plugins
from assay.toolchain.models.written_inputs import (
    copy_written_inputs,
    watching_inputs,
)
from assay.toolchain.sampled_model import SampledModel
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.tensors import Sample, kept_buffers, run_module, update_digest
from assay.toolchain.types import TORCHVISION, InputSet, InputSpec, Model, ModelSpec

_EXAMPLE = InputSet("normal", seed=0)
_DEFAULT_INPUTS = (InputSpec((1, 3, 224, 224)),)


@reading("the model")
def model_spec_from_json(document: Mapping[str, Any] | str) -> ModelSpec:
    """Reads MODEL of docs/contracts/aot.md; a bare string is a reference."""
    if isinstance(document, str):
        return ModelSpec(document)
    check_keys("key of a model", document, ("ref", "args", "seed", "inputs", "weight_init"))
    if not document.get("ref"):
        raise RequestError('a model needs a "ref", such as "torchvision:mobilenet_v2"')
    inputs = document.get("inputs")
    specs = None if inputs is None else tuple(input_spec_from_json(entry) for entry in inputs)
    return ModelSpec(
        str(document["ref"]),
        dict(document.get("args") or {}),
        int(document.get("seed") or 0),
        specs,
        document.get("weight_init"),
    )


Families = Mapping[str, Callable[[ModelSpec], Any]]
"""Makers of the models that Assay itself defines, by the prefix of their references."""

NO_FAMILIES: Families = MappingProxyType({})


def load_model(spec: ModelSpec, families: Families = NO_FAMILIES) -> Model:
    """Builds the model, seeds its weights and, where asked, initializes them from data.

    `families`: the makers for references with another prefix than those of this module.

    Raises:
        RequestError: the reference names nothing; the text has the nearest names.
    """
    seed_generators(spec.seed)
    made = _make(spec, families)
    exported = made if isinstance(made, torch.export.ExportedProgram) else None
    sampled = made if isinstance(made, SampledModel) else None
    module, example = _module_and_example(made)
    if sampled is not None and spec.inputs is not None:
        raise RequestError(f'{spec.ref} brings its own inputs; leave the model\'s "inputs" out')
    inputs = _input_specs(spec, example)
    own = example
    if spec.inputs is not None or example is None:
        example = generate_sample(_EXAMPLE, inputs, 0)
    if exported is None:
        module = _without_subclasses(module.eval())
    drawn = _drawn_sha256(spec, module, sampled)
    with _blaming_given_inputs(spec, module, own), watching_inputs(module) as written:
        health = _health(spec, module, inputs, sampled)
    if written and sampled is None:
        copy_written_inputs(spec.ref, module, frozenset(written))
    own = own if spec.inputs is None else None
    count = sum(parameter.numel() for parameter in module.parameters())
    with our_work("digesting the model's weights"):
        digest = drawn or weights_sha256(module)
    return Model(spec, module, inputs, example, health, digest, count, exported, sampled, own)


@contextmanager
def _blaming_given_inputs(
    spec: ModelSpec, module: torch.nn.Module, own: Sample | None
) -> Iterator[None]:
    """Blames the request where the model fails on the given inputs and not on its own.

    Raises:
        RequestError: it names the given inputs, and the model's own where it has them.
    """
    try:
        yield
    except Exception as error:
        if spec.inputs is None or not is_wrong_use(error) or not _runs_on(module, own):
            raise
        names = _input_names(module, len(spec.inputs))
        given = _text_from_inputs(names, spec.inputs)
        text = f"{spec.ref} does not run with the inputs that are given, {given}"
        if own is not None:
            text += (
                f"; its own are {_text_from_inputs(names, [spec_from_tensor(one) for one in own])}"
            )
        raise RequestError(f"{text}: {readable_error(error)}") from error


def _runs_on(module: torch.nn.Module, sample: Sample | None) -> bool:
    """True if the model runs on its own inputs; without any, nothing speaks against it."""
    if sample is None:
        return True
    try:
        with kept_buffers(module):
            run_module(module, sample)
    except Exception:
        return False
    return True


def _input_names(module: torch.nn.Module, count: int) -> list[str]:
    """Names of forward's parameters, and places where it tells no more of them."""
    parameters = inspect.signature(module.forward).parameters.values()
    names = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return [*names, *map(str, range(len(names), count))]


def _text_from_inputs(names: Sequence[str], specs: Sequence[InputSpec]) -> str:
    return ", ".join(
        f"{name} {'x'.join(map(str, spec.shape)) or 'scalar'} {spec.dtype}"
        for name, spec in zip(names, specs, strict=False)
    )


def _health(
    spec: ModelSpec,
    module: torch.nn.Module,
    inputs: tuple[InputSpec, ...],
    sampled: SampledModel | None,
) -> dict[str, Any]:
    """Initializes weights where asked, and measures the outputs for the model's samples."""
    if sampled is not None:
        samples = [sampled.make_sample(spec.seed, index) for index in range(2)]
        with kept_buffers(module):
            return {"asked": False, "steps": [], **weight_init.measure_samples(module, samples)}
    steps = (
        weight_init.initialize_weights(module, inputs, seed=spec.seed)
        if spec.needs_weight_init()
        else []
    )
    with kept_buffers(module):
        health = weight_init.measure_outputs(module, inputs, seed=spec.seed)
    return {"asked": spec.needs_weight_init(), "steps": steps, **health}


def _drawn_sha256(
    spec: ModelSpec, module: torch.nn.Module, sampled: SampledModel | None
) -> str | None:
    """Digest of the weights before they are initialized from data; None where they are not.

    What is made from data has other last bits on another processor. Layers that take their shapes
    from the first call have no weights before it.
    """
    if sampled is not None:
        return sampled.drawn_sha256
    if not spec.needs_weight_init() or any(map(is_lazy, module.parameters())):
        return None
    with our_work("digesting the model's weights"):
        return weights_sha256(module)


def weights_sha256(module: torch.nn.Module) -> str:
    """Digest of names, dtypes, shapes and bytes of the state, in the order of names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        if isinstance(tensor, torch.Tensor):
            update_digest(digest, name, tensor)
    return digest.hexdigest()


@cache
def listed_models() -> dict[str, dict[str, Any]]:
    """The entries of data/models.json by reference."""
    text = resources.files("assay").joinpath("data/models.json").read_text()
    return {entry["ref"]: entry for entry in json.loads(text)["models"]}


def torchvision_names() -> list[str]:
    """The classification networks of the installed torchvision, without quantized variants.

    Raises:
        MissingDependency: torchvision is not installed.
    """
    if importlib.util.find_spec("torchvision") is None:
        raise MissingDependency("torchvision is not installed; pip install --no-deps torchvision")
    compat.prepare_torchvision()
    import torchvision.models

    return sorted(torchvision.models.list_models(module=torchvision.models))


def _make(spec: ModelSpec, families: Families) -> Any:
    """Calls what the reference names: a module, (module, inputs) or an exported program."""
    plugin_models = load_plugins().models
    if spec.ref in plugin_models:
        return _call(plugin_models[spec.ref], spec)
    if spec.ref.startswith(TORCHVISION):
        return _make_torchvision(spec)
    prefix = spec.ref.partition(":")[0]
    if prefix in families:
        return families[prefix](spec)
    path, _, factory = spec.ref.removeprefix("file:").partition(":")
    if path.endswith(".pt2"):
        return _load_exported(Path(path), spec)
    if path.endswith(".py"):
        return _call(_factory(Path(path), factory), spec)
    known = [*plugin_models, *listed_models(), "FILE.py:FACTORY", "FILE.pt2", "aten:NAME.OVERLOAD"]
    raise RequestError(unknown_name("model", spec.ref, known))


def _make_torchvision(spec: ModelSpec) -> torch.nn.Module:
    name = spec.ref.removeprefix(TORCHVISION)
    names = torchvision_names()
    if name not in names:
        raise RequestError(unknown_name("torchvision model", name, names))
    import torchvision.models

    if spec.args.get("weights") is not None:
        raise RequestError("weights are not downloaded; leave 'weights' out of the arguments")
    needs_init = name in ("googlenet", "inception_v3")
    defaults = {"init_weights": True, "aux_logits": False} if needs_init else {}
    module: torch.nn.Module = torchvision.models.get_model(
        name, weights=None, **defaults | spec.args
    )
    return module


def _call(factory: Callable[..., Any], spec: ModelSpec) -> Any:
    """Calls the factory; arguments that it does not take are the request's fault."""
    try:
        inspect.signature(factory).bind(**spec.args)
    except ValueError:  # a builtin that does not tell
        pass
    except TypeError as error:
        raise RequestError(f"{spec.ref} does not take these arguments: {error}") from error
    return factory(**spec.args)


def _factory(path: Path, name: str) -> Callable[..., Any]:
    module = import_file(path)
    factory = getattr(module, name, None) if name else None
    if callable(factory):
        return factory  # type: ignore[no-any-return]
    functions = [key for key, value in vars(module).items() if callable(value)]
    raise RequestError(unknown_name(f"factory in {path.name}", name, functions))


def _load_exported(path: Path, spec: ModelSpec) -> torch.export.ExportedProgram:
    if not path.is_file():
        raise RequestError(f"no exported program {path}")
    if path.name.endswith(AOTI_ENDING):
        raise RequestError(f"{path.name} is a program that AOTInductor made, not a model")
    if spec.args:
        raise RequestError("a .pt2 file takes no arguments")
    return load_exported(path)


def _module_and_example(made: Any) -> tuple[torch.nn.Module, Sample | None]:
    if isinstance(made, torch.export.ExportedProgram):
        args = made.example_inputs[0] if made.example_inputs else None
        return made.module(), None if args is None else tuple(args)
    if isinstance(made, SampledModel):
        return made.module, made.make_sample(0, 0)
    module, inputs = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(module, torch.nn.Module):
        kind = type(made).__name__
        raise RequestError(f"a factory returns a module or (module, inputs), not {kind}")
    return module, None if inputs is None else _sample_from_inputs(inputs)


def _without_subclasses(module: torch.nn.Module) -> torch.nn.Module:
    """The module with the parts of its quantized weights as plain tensors.

    torchao's own tensors end in a program as pickles, which no engine loads without trust.
    """
    if not any(hasattr(parameter, "__tensor_flatten__") for parameter in module.parameters()):
        return module
    from torchao.utils import unwrap_tensor_subclass

    plain: torch.nn.Module = unwrap_tensor_subclass(module)
    return plain


def _sample_from_inputs(inputs: Any) -> Sample:
    """The inputs of a module, as torch.export and torch.onnx.export take them: one or several.

    Raises:
        RequestError: something among them is no tensor.
    """
    several = inputs if isinstance(inputs, tuple | list) else (inputs,)
    for one in several:
        if not isinstance(one, torch.Tensor):
            raise RequestError(
                "a factory returns (module, inputs) with one tensor or a tuple of tensors, "
                f"not {type(one).__name__}"
            )
    return tuple(tensor.detach() for tensor in several)


def _input_specs(spec: ModelSpec, example: Sample | None) -> tuple[InputSpec, ...]:
    if spec.inputs is not None:
        return spec.inputs
    if example is not None:
        return tuple(spec_from_tensor(tensor) for tensor in example)
    listed = listed_models().get(spec.ref)
    if listed is not None:
        return tuple(input_spec_from_json(entry) for entry in listed["inputs"])
    if spec.ref.startswith(TORCHVISION):
        return _DEFAULT_INPUTS
    raise RequestError(
        f"{spec.ref} has no example inputs; give a shape for each: --input-shape 1,3,224,224 "
        '(with its type: 2,5:int64), in a spec the model\'s "inputs"'
    )
