"""The suite of whole models: "conform:NAME", and the user's folders of *.py files.

A model is a factory that returns a module and its example inputs, registered by a row of a table in
model_zoo/. A file of a user's folder has the same: `conformance_models: dict[str, Callable]`. The
folders stand in ASSAY_CONFORM_MODELS, separated like PATH.
"""

from collections.abc import Mapping
from typing import Any

import torch

from assay.conformance.model_zoo import networks, stress_graphs, vision
from assay.conformance.model_zoo.entry import Entry
from assay.toolchain.errors import RequestError
from assay.toolchain.files import only_files
from assay.toolchain.model_folders import model_folders
from assay.toolchain.models import weight_init
from assay.toolchain.models.inputs import generate_sample, spec_from_tensor
from assay.toolchain.models.loader import weights_sha256
from assay.toolchain.models.plugins import import_file
from assay.toolchain.sampled_model import SampledModel
from assay.toolchain.suggest import unknown_name
from assay.toolchain.tensors import Sample
from assay.toolchain.types import InputSet

PREFIX = "conform:"


def known_models() -> dict[str, Entry]:
    """All models by name, the user's last.

    Raises:
        RequestError: a user's model has the name of another.
    """
    entries = [*stress_graphs.ENTRIES, *networks.ENTRIES, *vision.ENTRIES, *_user_entries()]
    known: dict[str, Entry] = {}
    for entry in entries:
        if entry.name in known:
            raise RequestError(f"two conformance models are called '{entry.name}'; rename one")
        known[entry.name] = entry
    return known


def _user_entries() -> list[Entry]:
    files = [path for folder in model_folders() for path in only_files(folder.glob("*.py"))]
    entries = []
    for path in files:
        table = getattr(import_file(path), "conformance_models", None)
        if not isinstance(table, dict):
            raise RequestError(f"{path} has no dict conformance_models of factories by name")
        entries += [Entry(name, make) for name, make in table.items()]
    return entries


def make_model(ref: str, args: Mapping[str, Any]) -> SampledModel:
    """The model "conform:NAME", its weights initialized where its table says so.

    Raises:
        RequestError: an unknown name, or arguments, which none of them takes.
    """
    name = ref.removeprefix(PREFIX)
    known = known_models()
    if name not in known:
        raise RequestError(unknown_name("conformance model", name, known))
    if args:
        raise RequestError(f"{ref} takes no arguments")
    entry = known[name]
    torch.manual_seed(0)
    module, example = entry.make()
    module.eval()
    specs = tuple(map(spec_from_tensor, example)) if entry.inputs is None else entry.inputs
    drawn = None
    if entry.needs_weight_init:
        drawn = weights_sha256(module)
        weight_init.initialize_weights(module, specs, seed=0)

    def make_sample(seed: int, sample: int) -> Sample:
        return generate_sample(InputSet("normal", seed), specs, sample)

    return SampledModel(module, make_sample, drawn_sha256=drawn)
