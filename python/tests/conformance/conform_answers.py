"""Answers of eager to a case, and the distance of an answer from the bounds."""

import math

import torch

from assay.conformance.operator_model import make_operator
from assay.toolchain.tensors import cast_sample


def answers_of(case, samples=2):
    """Returns for each sample eager's outputs and the bounds."""
    model = make_operator(case.model["ref"], case.model["args"])
    found = []
    for sample in (model.make_sample(1, index) for index in range(samples)):
        with torch.no_grad():
            own = model.module(*sample)
            exact = model.float64_module(*cast_sample(sample, torch.float64))
        found.append((own, model.bound(sample, own, exact)))
    return found


def ratio_of(answers, bounds):
    """The largest |answer - expected| / limit; infinite where special values are elsewhere."""
    return max((_ratio(*one) for one in zip(answers, bounds, strict=True)), default=0.0)


def _ratio(answer, bound):
    expected, answer = bound.expected.double(), answer.double()
    if answer.shape != expected.shape:
        return math.inf
    is_same = (answer == expected) | (answer.isnan() & expected.isnan()) | bound.limit.isinf()
    is_special = ~expected.isfinite() | ~answer.isfinite()
    if not bool(is_same[is_special].all()):
        return math.inf
    off = (answer - expected).abs()[~is_special & ~is_same]
    shares = off / bound.limit[~is_special & ~is_same]
    return float(shares.max()) if shares.numel() else 0.0


def one_element_off(bounds):
    """The expected outputs, with the largest finite element of each off by the output's rms."""
    return [_one_off(bound.expected.double()) for bound in bounds]


def _one_off(expected):
    flat = expected.clone().reshape(-1)
    finite = flat.isfinite().nonzero().reshape(-1)
    if finite.numel():
        place = finite[flat[finite].abs().argmax()]
        rms = float(flat[finite].square().mean().sqrt())
        flat[place] += rms if rms > 0 else 1.0
    return flat.reshape(expected.shape)
