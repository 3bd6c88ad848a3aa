"""Words that the fields of results and options can hold, as literal types.

Each type has the name of the enumeration of the C++ sources that it repeats; those without one
there say so. `typing.get_args(assay.Verdict)` lists the words.
"""

from typing import Literal

Outcome = Literal[
    "completed",
    "unsupported",
    "aot_error",
    "load_error",
    "run_error",
    "crashed",
    "timed_out",
    "out_of_memory",
    "harness_error",
    "skipped",
]
"""How a case ended."""

Stage = Literal[
    "none",
    "model",
    "quantize",
    "export",
    "lower",
    "serialize",
    "reference",
    "push",
    "start",
    "load",
    "first",
    "steady",
    "fetch",
    "unload",
    "done",
]
"""Where a case stood when its outcome was decided; "done": it went through."""

Accuracy = Literal["pass", "fail_numeric", "fail_nondeterministic", "vacuous", "not_checked"]
"""Result of a comparison with references; "vacuous": it could not have found a fault."""

Timing = Literal["steady", "unsteady", "inconclusive", "not_measured", "emulated"]
"""Whether a case has a steady time."""

Delegation = Literal["full", "partial", "none", "unknown"]
"""How much of a program its backend executes."""

Verdict = Literal["pass", "fail", "inconclusive", "skipped"]
"""Outcome, accuracy, timing and gates of a case in one word."""

ComparisonVerdict = Literal[
    "faster", "slower", "changed_less", "equivalent", "inconclusive", "identical", "changed"
]
"""Verdict on B against A by one metric.

"changed_less" is a change smaller than what matters, "changed" one of a metric without a better
direction, "identical" says that both sides are the same files.
"""

ConformVerdict = Literal[
    "pass",
    "vacuous",
    "unsupported",
    "fail_numeric",
    "fail_nondeterministic",
    "fail_delegation",
    "aot_error",
    "load_error",
    "run_error",
    "crashed",
    "timed_out",
    "out_of_memory",
    "harness_error",
    "not_run",
]
"""Verdict on a backend by one conformance case."""

KnownGap = Literal["none", "new_failure", "unsupported", "known_failure", "unexpected_pass"]
"""A conformance verdict compared with the lists of known gaps."""

Better = Literal["lower", "higher", "none"]
"""Which values of a metric are better."""

MetricScale = Literal["ratio", "difference"]
"""Whether two values of a metric are compared by their ratio or by their difference."""

ErrorCode = Literal[
    "invalid_argument",
    "not_found",
    "unsupported",
    "unavailable",
    "timeout",
    "crashed",
    "corrupt",
    "conflict",
    "exhausted",
    "engine",
    "internal",
]
"""Code of an AssayError: what the caller can do about it."""

SandboxMode = Literal["off", "on", "required"]
"""Whether launches and toolchain jobs are isolated."""

Direction = Literal[-1, 0, 1]
"""Direction of a change: 1 worse, -1 better, 0 neither; a number in the C++ sources, too."""

RunState = Literal["finished", "running", "stopped"]
"""State of a stored run: a function in the C++ sources."""

ReductionEnd = Literal["minimal", "budget", "interrupted"]
"""Why a reduction ended: a text in the C++ sources."""
