"""Whether a wrong answer to a case would show: the controls of an evaluation, tried on eager.

The same controls as src/assay/evaluate/controls.h has, against the bounds of a float64 reference. A
case whose check no wrong answer fails is vacuous with every backend.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from assay.conformance.operator_model import make_operator
from assay.toolchain.sampled_model import Bound
from assay.toolchain.tensors import cast_sample


def smallest_sample_count(ref: str, args: Mapping[str, Any], counts: Sequence[int]) -> int | None:
    """The first of `counts` samples for which no control passes; None if one always does."""
    return next(
        (count for count in counts if detects_wrong_output(expected_bounds(ref, args, count))), None
    )


def expected_bounds(ref: str, args: Mapping[str, Any], count: int) -> list[list[Bound]]:
    """Lists for each sample the expected outputs and their bounds."""
    model = make_operator(ref, args)
    assert model.float64_module is not None
    assert model.bound is not None
    bounds = []
    for index in range(count):
        sample = model.make_sample(1, index)
        with torch.no_grad():
            own = model.module(*sample)
            exact = model.float64_module(*cast_sample(sample, torch.float64))
        bounds.append(model.bound(sample, own, exact))
    return bounds


def detects_wrong_output(samples: Sequence[Sequence[Bound]]) -> bool:
    """True if each mandatory control breaks a bound of some output, and passes for none.

    Outputs without an element have nothing to tell.
    """
    outputs = list(zip(*samples, strict=True))
    if not any(bound.limit.numel() for output in outputs for bound in output):
        return True
    controls = (_zeros, _other_sample, _one_element)
    return all(_fails([control(output) for output in outputs]) for control in controls)


def is_broken(answer: torch.Tensor, bound: Bound) -> bool:
    """True if an answer is further from what is expected than it may be."""
    expected, answer = bound.expected.double(), answer.double()
    is_same = (answer == expected) | (answer.isnan() & expected.isnan()) | bound.limit.isinf()
    is_within = (answer - expected).abs() <= bound.limit
    return not bool((is_same | (is_within & expected.isfinite())).all())


def unchanged_passes(
    samples: Sequence[Sequence[torch.Tensor]], bounds: Sequence[Sequence[Bound]]
) -> bool:
    """True if for some output an input of its shape, unchanged, is within the bounds everywhere.

    The answer of a backend that takes the operator for a copy. False where no input has the shape.
    """
    return any(
        all(
            sample[place].shape == bound[output].limit.shape
            and not is_broken(sample[place], bound[output])
            for sample, bound in zip(samples, bounds, strict=True)
        )
        for place in range(len(samples[0]))
        for output in range(len(bounds[0]))
        if any(bound[output].limit.numel() for bound in bounds)
    )


def _fails(verdicts: Sequence[bool | None]) -> bool:
    """`verdicts`: by output whether the control broke a bound; None: it does not apply there."""
    tried = [verdict for verdict in verdicts if verdict is not None]
    return all(tried) and (bool(tried) or not verdicts)


def _is_constant(output: Sequence[Bound]) -> bool:
    return bool(output[0].rule.get("constant"))


def _zeros(output: Sequence[Bound]) -> bool | None:
    if all(bool((bound.expected == 0).all()) for bound in output):
        return True if _is_constant(output) else None
    return any(is_broken(torch.zeros_like(bound.expected), bound) for bound in output)


def _other_sample(output: Sequence[Bound]) -> bool | None:
    pairs = [(_neighbour(output, index), bound) for index, bound in enumerate(output)]
    if all(_is_same(other.expected, bound.expected) for other, bound in pairs):
        has_others = len(output) > 1 and any(bound.limit.numel() for bound in output)
        return _is_constant(output) or (False if has_others else None)
    return any(is_broken(other.expected, bound) for other, bound in pairs)


def _neighbour(output: Sequence[Bound], index: int) -> Bound:
    """The next sample of the same shape, in a circle."""
    shape = output[index].limit.shape
    later = [*output[index + 1 :], *output[:index]]
    return next((bound for bound in later if bound.limit.shape == shape), output[index])


def _is_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool(((a == b) | (a.isnan() & b.isnan())).all())


def _one_element(output: Sequence[Bound]) -> bool | None:
    """The largest element of the first sample that has one with bounds, off by the rms."""
    flat = torch.cat([bound.expected.double().reshape(-1) for bound in output])
    finite = flat[flat.isfinite()]
    if not finite.numel():
        return True  # Special values have their place, and are off anywhere else.
    rms = float(finite.square().mean().sqrt())
    for bound in output:
        expected = bound.expected.double().reshape(-1)
        is_taken = expected.isfinite() & ~bound.limit.reshape(-1).isinf()
        if bool(is_taken.any()):
            place = int(torch.where(is_taken, expected.abs(), -1.0).argmax())
            limit = float(bound.limit.reshape(-1)[place])
            return not (rms or 1.0) <= limit
    return None
