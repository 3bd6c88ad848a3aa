"""Between the runner's loop, which speaks JSON, and an engine, which speaks records."""

import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assay._interpreter import find_folders
from assay.engines.base import Engine, LoadReport, LoadRequest, Session


class Adapter:
    """Drives an engine for assay._host. `tells_dependencies`: descriptions list dependencies."""

    def __init__(self, engine: Engine, *, tells_dependencies: bool = False) -> None:
        self._engine = engine
        self._tells_dependencies = tells_dependencies

    def describe(self) -> dict[str, Any]:
        """EngineDescription of src/assay/engine/engine.h."""
        description = asdict(self._engine.describe())
        return {
            **description,
            "depends_on": find_dependencies() if self._tells_dependencies else [],
            "reads": find_folders() if self._tells_dependencies else [],
        }

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
        "emulator": report.emulator,
        "notes": list(report.notes),
    }


def find_dependencies() -> list[str]:
    """Files whose change makes a description stale: the interpreter, its packages, imported files.

    A package that comes or goes changes the folder that it is in. The standard library's files
    change with the interpreter; the folder that the process happens to run in is none of them.
    """
    library = sysconfig.get_path("stdlib")
    packages = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return sorted(
        {
            *(sys.executable, str(Path(sys.executable).resolve())),
            *filter(None, sys.path),
            *(str(file) for file in files if file and is_own(file, library, packages)),
        }
    )


def is_own(file: str, library: str, packages: Sequence[str]) -> bool:
    """True if an imported file is no part of the standard library."""
    path = Path(file)
    is_package = any(path.is_relative_to(folder) for folder in packages)
    return is_package or not path.is_relative_to(library)
