"""The models that Assay itself defines, by the prefix of their references.

The one place that knows the toolchain, the conformance suite and the reducer: jobs hand the table
to whatever loads models. The server imports it before it takes stdout for the protocol, so nothing
here imports torch until a model is made.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.toolchain.sampled_model import SampledModel
from assay.toolchain.types import Model, ModelSpec

if TYPE_CHECKING:
    from assay.toolchain.models.loader import Families


def load(document: Mapping[str, Any] | str | ModelSpec) -> Model:
    """The model of a request, of any family."""
    from assay.toolchain.models.loader import load_model, model_spec_from_json

    spec = document if isinstance(document, ModelSpec) else model_spec_from_json(document)
    return load_model(spec, FAMILIES)


def _make_operator(spec: ModelSpec) -> SampledModel:
    from assay.conformance.operator_model import make_operator

    return make_operator(spec.ref, spec.args)


def _make_joint(spec: ModelSpec) -> SampledModel:
    from assay.conformance.joint import make_joint

    return make_joint(spec.args, FAMILIES)


def _make_conformance_model(spec: ModelSpec) -> SampledModel:
    from assay.conformance.models import make_model

    return make_model(spec.ref, spec.args)


def _make_subgraph(spec: ModelSpec) -> SampledModel:
    from assay.reduction.subgraph import make_subgraph

    return make_subgraph(spec.args, FAMILIES)


FAMILIES: "Families" = {
    "aten": _make_operator,
    "joint": _make_joint,
    "conform": _make_conformance_model,
    "piece": _make_subgraph,
}
