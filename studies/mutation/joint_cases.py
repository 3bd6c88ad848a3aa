"""Conformance cases in one program, as a model that a spec names: joint_cases.py:make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.conformance.joint import make_joint
from assay.toolchain.sampled_model import SampledModel
from assay.toolchain.server.model_families import FAMILIES


def make(models: Sequence[Any]) -> SampledModel:
    """All of the models side by side."""
    return make_joint({"models": list(models)}, FAMILIES)
