"""The ahead-of-time half as ExecuTorch sees it: a partition goes in, a blob comes out."""

import logging
from typing import final

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from torch.export import ExportedProgram

from fixedpoint.blob import write
from fixedpoint.lower import lower
from fixedpoint.planner import plan

logger = logging.getLogger(__name__)


@final
class FixedPointBackend(BackendDetails):  # type: ignore[misc]
    """Lowers, plans, serializes. The class's name is the backend's in the program."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        """Makes the blob of one partition; events carry the position of their operation."""
        program = lower(edge_program, **options_of(compile_specs))
        planned = plan(program)
        logger.info("%s", planned.describe())
        handles = {i: tuple(op.handles) for i, op in enumerate(program.operations)}
        return PreprocessResult(write(program, planned), debug_handle_map=handles)


def options_of(compile_specs: list[CompileSpec]) -> dict[str, str]:
    """Options of the lowering that the partitioner wrote into the specification."""
    return {spec.key: bytes(spec.value).decode() for spec in compile_specs}
