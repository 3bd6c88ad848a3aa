"""Measures, evaluates and conformance-tests on-device AI models on every inference engine.

    import assay

    report = assay.bench("model.pte", iterations=100)
    print(report)
    report = assay.evaluate("torchvision:mobilenet_v2", recipe="executorch/xnnpack-int8")
    print(assay.compare("old.pte", "new.pte"))
    with assay.load("torchvision:mobilenet_v2", recipe="executorch/xnnpack-int8") as f:
        y = f(x)

Every verb of the command line that measures is a function here. docs/guide/python.md is the guide.
The import itself loads neither PyTorch nor the extension module.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from assay._answers import Calibration, Comparison, Profile, StoredComparison
    from assay._correctness import Conformance, Coverage, Reduction, Reductions
    from assay._errors import AssayError, InternalError, UnavailableError, UsageError
    from assay._history import History
    from assay._literals import (
        Accuracy,
        Better,
        ComparisonVerdict,
        ConformVerdict,
        Delegation,
        Direction,
        ErrorCode,
        KnownGap,
        MetricScale,
        Outcome,
        ReductionEnd,
        RunState,
        SandboxMode,
        Stage,
        Timing,
        Verdict,
    )
    from assay._load import LoadedProgram, Signature, load
    from assay._models import export
    from assay._options import (
        AttributeOptions,
        BenchOptions,
        CalibrateOptions,
        CompareOptions,
        CompareRunsOptions,
        ConformanceReportOptions,
        ConformOptions,
        CoverageOptions,
        EvaluateOptions,
        HistoryOptions,
        ProfileOptions,
        ReduceOptions,
        ReduceRunOptions,
        ReportOptions,
        RunOptions,
        RunsOptions,
    )
    from assay._plot_series import plot_history, plot_runs
    from assay._report import AccuracyTable, Attribution, Case, Estimate, GateResult, Report
    from assay._result import Result
    from assay._runs import RunEntry, Runs
    from assay._stored import (
        compare_runs,
        conformance_report,
        history,
        reduce_run,
        report,
        runs,
    )
    from assay._tensors import TensorSpec
    from assay._verbs import (
        attribute,
        bench,
        calibrate,
        compare,
        conform,
        coverage,
        evaluate,
        profile,
        reduce,
        run,
    )

_NAMES = {
    "_answers": ("Calibration", "Comparison", "Profile", "StoredComparison"),
    "_correctness": ("Conformance", "Coverage", "Reduction", "Reductions"),
    "_errors": ("AssayError", "InternalError", "UnavailableError", "UsageError"),
    "_history": ("History",),
    "_literals": (
        "Accuracy",
        "Better",
        "ComparisonVerdict",
        "ConformVerdict",
        "Delegation",
        "Direction",
        "ErrorCode",
        "KnownGap",
        "MetricScale",
        "Outcome",
        "ReductionEnd",
        "RunState",
        "SandboxMode",
        "Stage",
        "Timing",
        "Verdict",
    ),
    "_load": ("LoadedProgram", "Signature", "load"),
    "_models": ("export",),
    "_options": (
        "AttributeOptions",
        "BenchOptions",
        "CalibrateOptions",
        "CompareOptions",
        "CompareRunsOptions",
        "ConformOptions",
        "ConformanceReportOptions",
        "CoverageOptions",
        "EvaluateOptions",
        "HistoryOptions",
        "ProfileOptions",
        "ReduceOptions",
        "ReduceRunOptions",
        "ReportOptions",
        "RunOptions",
        "RunsOptions",
    ),
    "_plot_series": ("plot_history", "plot_runs"),
    "_report": ("AccuracyTable", "Attribution", "Case", "Estimate", "GateResult", "Report"),
    "_result": ("Result",),
    "_runs": ("RunEntry", "Runs"),
    "_tensors": ("TensorSpec",),
    "_stored": (
        "compare_runs",
        "conformance_report",
        "history",
        "reduce_run",
        "report",
        "runs",
    ),
    "_verbs": (
        "attribute",
        "bench",
        "calibrate",
        "compare",
        "conform",
        "coverage",
        "evaluate",
        "profile",
        "reduce",
        "run",
    ),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [
    "Accuracy",
    "AccuracyTable",
    "AssayError",
    "AttributeOptions",
    "Attribution",
    "BenchOptions",
    "Better",
    "CalibrateOptions",
    "Calibration",
    "Case",
    "CompareOptions",
    "CompareRunsOptions",
    "Comparison",
    "ComparisonVerdict",
    "ConformOptions",
    "ConformVerdict",
    "Conformance",
    "ConformanceReportOptions",
    "Coverage",
    "CoverageOptions",
    "Delegation",
    "Direction",
    "ErrorCode",
    "Estimate",
    "EvaluateOptions",
    "GateResult",
    "History",
    "HistoryOptions",
    "InternalError",
    "KnownGap",
    "LoadedProgram",
    "MetricScale",
    "Outcome",
    "Profile",
    "ProfileOptions",
    "ReduceOptions",
    "ReduceRunOptions",
    "Reduction",
    "ReductionEnd",
    "Reductions",
    "Report",
    "ReportOptions",
    "Result",
    "RunEntry",
    "RunOptions",
    "RunState",
    "Runs",
    "RunsOptions",
    "SandboxMode",
    "Signature",
    "Stage",
    "StoredComparison",
    "TensorSpec",
    "Timing",
    "UnavailableError",
    "UsageError",
    "Verdict",
    "attribute",
    "bench",
    "calibrate",
    "compare",
    "compare_runs",
    "conform",
    "conformance_report",
    "coverage",
    "evaluate",
    "export",
    "history",
    "load",
    "plot_history",
    "plot_runs",
    "profile",
    "reduce",
    "reduce_run",
    "report",
    "run",
    "runs",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    return getattr(importlib.import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
