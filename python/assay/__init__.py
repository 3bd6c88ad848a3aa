"""Measures, evaluates and conformance-tests on-device AI models on every inference engine.

    import assay

    report = assay.bench("model.pte", iterations=100)
    print(report)
    report = assay.evaluate("torchvision:mobilenet_v2", recipe="executorch/xnnpack-int8")
    print(assay.compare("old.pte", "new.pte"))
    with assay.load("torchvision:mobilenet_v2", recipe="executorch/xnnpack-int8") as f:
        y = f(x)

Every verb of the command line that measures is a function here: run, bench, evaluate, conform,
reduce, attribute, compare, profile, calibrate, report, runs, history. docs/guide/python.md is the
guide. The import itself loads neither PyTorch nor the extension module.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from assay._answers import Calibration, Comparison, Profile, StoredComparison
    from assay._correctness import Conformance, Coverage, Reduction, Reductions
    from assay._errors import AssayError, InternalError, UnavailableError, UsageError
    from assay._history import History
    from assay._load import LoadedProgram, Signature, load
    from assay._models import save
    from assay._options import (
        AttributeOptions,
        BenchOptions,
        CalibrateOptions,
        CompareOptions,
        ConformOptions,
        EvaluateOptions,
        HistoryOptions,
        ProfileOptions,
        ReduceOptions,
        ReportOptions,
        RunOptions,
        RunsOptions,
    )
    from assay._plot_series import plot_history, plot_runs
    from assay._report import AccuracyTable, Attribution, Case, Estimate, GateResult, Report
    from assay._result import Result
    from assay._runs import RunEntry, Runs
    from assay._tensors import TensorSpec
    from assay._verbs import (
        attribute,
        bench,
        calibrate,
        compare,
        conform,
        evaluate,
        history,
        profile,
        reduce,
        report,
        run,
        runs,
    )

_NAMES = {
    "_answers": ("Calibration", "Comparison", "Profile", "StoredComparison"),
    "_correctness": ("Conformance", "Coverage", "Reduction", "Reductions"),
    "_errors": ("AssayError", "InternalError", "UnavailableError", "UsageError"),
    "_history": ("History",),
    "_load": ("LoadedProgram", "Signature", "load"),
    "_models": ("save",),
    "_options": (
        "AttributeOptions",
        "BenchOptions",
        "CalibrateOptions",
        "CompareOptions",
        "ConformOptions",
        "EvaluateOptions",
        "HistoryOptions",
        "ProfileOptions",
        "ReduceOptions",
        "ReportOptions",
        "RunOptions",
        "RunsOptions",
    ),
    "_plot_series": ("plot_history", "plot_runs"),
    "_report": ("AccuracyTable", "Attribution", "Case", "Estimate", "GateResult", "Report"),
    "_result": ("Result",),
    "_runs": ("RunEntry", "Runs"),
    "_tensors": ("TensorSpec",),
    "_verbs": (
        "attribute",
        "bench",
        "calibrate",
        "compare",
        "conform",
        "evaluate",
        "history",
        "profile",
        "reduce",
        "report",
        "run",
        "runs",
    ),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [
    "AccuracyTable",
    "AssayError",
    "AttributeOptions",
    "Attribution",
    "BenchOptions",
    "CalibrateOptions",
    "Calibration",
    "Case",
    "CompareOptions",
    "Comparison",
    "ConformOptions",
    "Conformance",
    "Coverage",
    "Estimate",
    "EvaluateOptions",
    "GateResult",
    "History",
    "HistoryOptions",
    "InternalError",
    "LoadedProgram",
    "Profile",
    "ProfileOptions",
    "ReduceOptions",
    "Reduction",
    "Reductions",
    "Report",
    "ReportOptions",
    "Result",
    "RunEntry",
    "RunOptions",
    "Runs",
    "RunsOptions",
    "Signature",
    "StoredComparison",
    "TensorSpec",
    "UnavailableError",
    "UsageError",
    "attribute",
    "bench",
    "calibrate",
    "compare",
    "conform",
    "evaluate",
    "history",
    "load",
    "plot_history",
    "plot_runs",
    "profile",
    "reduce",
    "report",
    "run",
    "runs",
    "save",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    return getattr(importlib.import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
