"""Bounds how far a correct implementation of an operator may be from its float64 reference.

Which rule an operator has stands in data/operators/bounds.json, with the reason; the rules are
here. u is the unit roundoff of the output's type, eps = 2u, gamma_n = nu/(1 - nu). Sources: N. J.
Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (SIAM, 2002): (3.1)-(3.7) for sums
and products, (1.10) for the variance; N. J. Higham and T. Mary, Sharper probabilistic backward
error analysis (SIAM J. Sci. Comput. 42, 2020) for sums in 16-bit types, where gamma_n says nothing.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import torch

from assay.conformance.operator_module import OperatorModule
from assay.conformance.operators import find_reason
from assay.toolchain.sampled_model import Bound
from assay.toolchain.tensors import Sample, cast_sample, flatten_tensors

DEVIATIONS = 4.0
"""Standard deviations of an accumulated error that a sum in a 16-bit type may have."""

_EPS32 = torch.finfo(torch.float32).eps
_SATURATED = 64.0
"""Inputs beyond which the exponentials of activation functions are constant in every type."""

_SIGNED_FACTORS = ("alpha", "beta", "value")
Change = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Rule:
    """A row of bounds.json: the name of a rule, its figure and its reason."""

    name: str
    units: float
    why: str
    extra: str | None = None


@dataclass(frozen=True)
class Call:
    """One execution of an operator, as the rules look at it.

    `exact`: one float64 output; `dtype`: the type it has in the case.
    """

    module: OperatorModule
    double: OperatorModule
    sample: Sample
    exact: torch.Tensor
    dtype: torch.dtype
    output: int
    rule: Rule

    @property
    def eps(self) -> float:
        """Twice the unit roundoff of the output's type."""
        return float(torch.finfo(self.dtype).eps)

    @property
    def wide_eps(self) -> float:
        """`eps` of the type in which sums are accumulated, at least float32."""
        return float(min(self.eps, _EPS32))

    def tensors(self) -> list[torch.Tensor]:
        """The floating arguments in float64, constants too, in order."""
        args, kwargs = self.double.arguments(cast_sample(self.sample, torch.float64))
        return [tensor.double() for tensor in flatten_tensors((args, kwargs))]

    def evaluate(self, change: Change) -> torch.Tensor:
        """Evaluates the output in float64 with every floating argument changed."""

        def changed(tensor: torch.Tensor) -> torch.Tensor:
            return change(tensor) if tensor.is_floating_point() else tensor

        widened = cast_sample(self.sample, torch.float64)
        args, kwargs = self.double.arguments(widened, changed)
        for name in _SIGNED_FACTORS:
            if isinstance(kwargs.get(name), (int, float)):
                kwargs[name] = float(change(torch.tensor(float(kwargs[name]))))
        with torch.no_grad():
            outputs = flatten_tensors(self.double.overload(*args, **kwargs))
        return outputs[self.output].double().abs()


def bound_outputs(
    module: OperatorModule,
    double: OperatorModule,
    sample: Sample,
    own: Sequence[torch.Tensor],
    exact: Sequence[torch.Tensor],
) -> list[Bound]:
    """A bound for each output of one call."""
    rule = find_rule(module.operator)
    bounds = [
        _bound(Call(module, double, sample, wide, narrow.dtype, number, rule))
        for number, (narrow, wide) in enumerate(zip(own, exact, strict=True))
    ]
    has_values = any(tensor.numel() for tensor in sample)
    is_same = module.is_same or find_reason(module.operator, "same_answers") is not None
    marks = {"constant": not has_values or is_same, "unchanged": module.is_copy}
    given = {mark: True for mark, is_given in marks.items() if is_given}
    return [replace(bound, rule={**bound.rule, **given}) for bound in bounds]


def _bound(call: Call) -> Bound:
    exact = call.exact.detach()
    zero = torch.zeros(exact.shape, dtype=torch.float64)
    if not call.dtype.is_floating_point:
        rule = {"rule": "exact", "why": "integers and booleans"}
        return Bound(exact.to(call.dtype), zero, rule)
    document = {"rule": call.rule.name, "units": call.rule.units, "why": call.rule.why}
    if call.rule.name == "exact":
        return Bound(exact.to(call.dtype).double(), zero, document)
    exact = exact.double()
    if not exact.numel():
        return Bound(exact, zero, document)
    limit = RULES[call.rule.name](call).expand(exact.shape)
    return _in_range(exact, limit, call, document)


def _in_range(
    exact: torch.Tensor, limit: torch.Tensor, call: Call, document: dict[str, Any]
) -> Bound:
    """Turns what overflows the type to infinity; adds the spacing of denormals to the limit."""
    info = torch.finfo(call.dtype)
    spacing = info.smallest_normal * info.eps * max(call.rule.units, 1)
    limit = limit.nan_to_num(nan=math.inf, posinf=math.inf) + spacing
    is_over = exact.abs() >= info.max * (1 + info.eps) + limit
    is_close = ~is_over & (exact.abs() > info.max)
    expected = torch.where(is_over, torch.copysign(torch.tensor(math.inf), exact).double(), exact)
    limit = torch.where(is_close, math.inf, limit)
    limit = torch.where(expected.isfinite(), limit, 0.0)
    return Bound(expected, limit.double(), document)


@cache
def rules() -> dict[str, Rule]:
    """The rules of data/operators/bounds.json by operator, with or without its overload."""
    text = resources.files("assay").joinpath("data/operators/bounds.json").read_text()
    return {
        f"aten.{name}": Rule(
            str(row["rule"]), float(row.get("units", 1)), str(row["why"]), row.get("extra")
        )
        for row in json.loads(text)["rules"]
        for name in row["operators"]
    }


NO_RULE = Rule("scaled", 64, "no bound is derived for this operator: a share of the largest value")


def find_rule(operator: str) -> Rule:
    """The rule of "aten.add.Tensor", of its overload if it has one of its own."""
    known = rules()
    return known.get(operator) or known.get(operator.rpartition(".")[0]) or NO_RULE


def _gamma(n: torch.Tensor | float, eps: float) -> Any:
    return n * eps / 2 / (1 - n * eps / 2)


def _ulp(call: Call) -> torch.Tensor:
    """So many units in the last place of the result; sixteen bits leave room for at most four."""
    units = call.rule.units if call.eps <= _EPS32 else min(call.rule.units, 4)
    return units * call.eps * call.exact.double().abs()


def _magnitude(call: Call) -> torch.Tensor:
    """Units of what the operator makes of the magnitudes: sums whose terms may cancel."""
    return call.rule.units * call.eps * call.evaluate(torch.abs)


def _sum_of_two(call: Call) -> torch.Tensor:
    """A sum or difference, the second operand with a factor."""
    args, kwargs = call.double.arguments(cast_sample(call.sample, torch.float64))
    factor = abs(kwargs.get("alpha", args[2] if len(args) > 2 else 1))
    first, second = (torch.as_tensor(value, dtype=torch.float64).abs() for value in args[:2])
    return call.rule.units * call.eps * (first + factor * second)


def _terms(call: Call) -> torch.Tensor:
    """A sum of n products: gamma_n of the magnitudes, and the rounding of the result.

    In a 16-bit type the accumulation may be in that type, too: the error is then a random walk.
    """
    count = call.evaluate(torch.ones_like) + call.rule.units + _extra(call)
    limit = _gamma(count, call.wide_eps) * call.evaluate(torch.abs)
    limit = limit + call.eps * call.exact.double().abs()
    if call.eps > _EPS32:
        walk = call.evaluate(torch.square).sqrt() * count.sqrt()
        limit = limit + DEVIATIONS * call.eps / 2 * walk
    return limit


def _extra(call: Call) -> float:
    """Terms that the operator on ones does not count, because it divides by their number."""
    if call.rule.extra == "ratio":
        return float(call.tensors()[0].numel() / max(call.exact.numel(), 1))
    if call.rule.extra == "kernel":
        args, _ = call.double.arguments(cast_sample(call.sample, torch.float64))
        sizes = list(args[1]) if isinstance(args[1], (list, tuple)) else [args[1]]
        return float(math.prod(sizes) if len(sizes) > 1 else sizes[0] ** 3)
    return 0.0


def _composite(call: Call) -> torch.Tensor:
    """Units of the argument's and the result's magnitude: a formula in which terms cancel.

    A large argument is the result, or has no part in it any more.
    """
    (first, *_) = call.tensors()
    size = first.abs() if first.shape == call.exact.shape else first.abs().max()
    size = size.nan_to_num().clamp(max=_SATURATED)
    return call.rule.units * call.eps * (size + call.exact.double().abs())


def _scaled(call: Call) -> torch.Tensor:
    """A share of the largest finite value of the output."""
    exact = call.exact.double()
    largest = exact.abs().nan_to_num(nan=0.0, posinf=0.0).max()
    return (call.rule.units * call.wide_eps + 3 * call.eps) * largest.expand(exact.shape)


def _softmax(call: Call) -> torch.Tensor:
    """Relative: of each exponential eps(|x - max|/2 + 4), the same of the sum, n of its terms."""
    distance, mean, count = _distances(call)
    share = call.eps * (8 + distance / 2 + mean / 2) + call.wide_eps * count
    return share * call.exact.double().abs()


def _log_softmax(call: Call) -> torch.Tensor:
    """Absolute: the subtraction of the largest, the logarithm of the sum, the last subtraction."""
    distance, _, count = _distances(call)
    return call.eps * (distance + call.exact.double().abs() + 4) + call.wide_eps * count


def _distances(call: Call) -> tuple[torch.Tensor, torch.Tensor, int]:
    """|x - max| along the dimension, its mean weighted by softmax, and how many there are."""
    args, _ = call.double.arguments(cast_sample(call.sample, torch.float64))
    x, dim = args[0].double(), int(args[1])
    distance = (x - x.amax(dim, keepdim=True)).abs()
    weighted = (distance * torch.softmax(x, dim)).nan_to_num().sum(dim, keepdim=True)
    return distance.nan_to_num(posinf=0.0), weighted, x.shape[dim] if x.dim() else 1


def _variance(call: Call) -> torch.Tensor:
    """Two passes: (n + 3)u of the variance, and a last rounding."""
    n = call.tensors()[0].numel() / max(call.exact.numel(), 1)
    return call.exact.double().abs() * (2 * call.eps + (n + 8) * call.wide_eps)


def _product(call: Call) -> torch.Tensor:
    """One rounding for each of n factors; in a 16-bit type a random walk of them."""
    n = call.tensors()[0].numel() / max(call.exact.numel(), 1) + 1
    share = 3 * call.eps + _gamma(n, call.wide_eps)
    if call.eps > _EPS32:
        share += DEVIATIONS * call.eps / 2 * math.sqrt(n)
    return call.exact.double().abs() * share


def _quotient(call: Call) -> torch.Tensor:
    """A quotient made whole: one off where it lies a rounding away from an integer."""
    ratio, _ = _ratio(call)
    near = _is_nearly_whole(ratio, call.eps)
    _, kwargs = call.double.arguments(cast_sample(call.sample, torch.float64))
    if kwargs.get("rounding_mode", "floor") is None:
        return 2 * call.eps * call.exact.double().abs()
    return near.double() + call.eps * call.exact.double().abs()


def _remainder(call: Call) -> torch.Tensor:
    """A product b·q with q whole: roundings of a and b; a whole b where a/b is nearly whole."""
    ratio, (first, second) = _ratio(call)
    near = _is_nearly_whole(ratio, call.eps)
    limit = call.rule.units * call.eps * (first.abs() + second.abs())
    return torch.where(near, second.abs() + limit, limit)


def _is_nearly_whole(ratio: torch.Tensor, eps: float) -> torch.Tensor:
    """Not whole, but perhaps when it is rounded. A quotient that is whole is exact in any type."""
    distance = (ratio - ratio.round()).abs()
    return (distance > 0) & (distance <= 2 * eps * ratio.abs())


def _ratio(call: Call) -> tuple[torch.Tensor, list[torch.Tensor]]:
    args, _ = call.double.arguments(cast_sample(call.sample, torch.float64))
    operands = [torch.as_tensor(value, dtype=torch.float64) for value in args[:2]]
    return operands[0] / operands[1], operands


def _anything(call: Call) -> torch.Tensor:
    """The operator promises no values."""
    return torch.full(call.exact.shape, math.inf, dtype=torch.float64)


RULES: dict[str, Callable[[Call], torch.Tensor]] = {
    "ulp": _ulp,
    "magnitude": _magnitude,
    "sum_of_two": _sum_of_two,
    "terms": _terms,
    "composite": _composite,
    "scaled": _scaled,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "variance": _variance,
    "product": _product,
    "quotient": _quotient,
    "remainder": _remainder,
    "anything": _anything,
}
