"""Between the runner's loop, which speaks JSON, and an engine, which speaks records."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assay.engines.base import Engine, LoadReport, LoadRequest, Session


class Adapter:
    """What assay._host drives."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def describe(self) -> dict[str, Any]:
        """EngineDescription of src/assay/engine/engine.h."""
        return asdict(self._engine.describe())

    def load(self, request: Mapping[str, Any]) -> tuple[Session, dict[str, Any]]:
        """The session, and its LoadReport of src/assay/record/launch.h."""
        session = self._engine.load(
            LoadRequest(
                entry=Path(request["entry"]),
                data=[Path(path) for path in request["data"]],
                method=request["method"],
                options=request["options"],
                libraries=[Path(path) for path in request["libraries"]],
            )
        )
        return session, report_to_json(session.report)


def report_to_json(report: LoadReport) -> dict[str, Any]:
    """The report as the wire has it."""
    return {
        "stages": [{"name": name, "ns": ns} for name, ns in report.stages.items()],
        "effective_options": dict(report.effective_options),
        "inputs": [asdict(spec) for spec in report.inputs],
        "outputs": [asdict(spec) for spec in report.outputs],
        "declared_memory": [
            {"name": name, "bytes": size} for name, size in report.declared_memory.items()
        ],
        "backends": list(report.backends),
        "notes": list(report.notes),
    }
