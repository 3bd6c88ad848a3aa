"""The interface of a lowering flow, which turns an exported program into files for one engine.

The flows are listed in registry.py. Nothing here, and nothing that a flow's file does when it is
imported, needs torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import RequestError
from assay.toolchain.types import Evaluate, Lowering

if TYPE_CHECKING:
    import torch

    from assay.toolchain.quantize.post_lowering import PostLoweringQuantization
    from assay.toolchain.sampled_model import Span
    from assay.toolchain.stages import StageLog
    from assay.toolchain.types import Model, Quantized

LoweringOutput = tuple[list[Path], dict[str, Any]]
"""The files, the program first and none without a folder, and the manifest's program."""


@dataclass(frozen=True)
class LoweringJob:
    """One piece of work for a flow.

    `folder` None: nothing is written. `quantize_lowered` quantizes the lowered program. `parts` are
    those of a joint program, each of which is described.
    """

    exported: "torch.export.ExportedProgram"
    lowering: Lowering
    folder: Path | None
    stages: "StageLog"
    quantize_lowered: Callable[[Any], Any] | None = None
    parts: "Sequence[Span]" = ()

    def lower(self, lower: "Callable[[torch.export.ExportedProgram, Lowering], Any]") -> Any:
        """Runs `lower` as the stage "lower", and then the quantization of lowered programs."""
        with self.stages.stage("lower"):
            lowered = lower(self.exported, self.lowering)
        if self.quantize_lowered is None:
            return lowered
        with self.stages.stage("quantize"):
            return self.quantize_lowered(lowered)

    def serialize(self, write: Callable[[Path], list[Path]]) -> list[Path]:
        """Runs `write` on the folder as the stage "serialize"; no files without a folder."""
        if self.folder is None:
            return []
        with self.stages.stage("serialize"):
            return write(self.folder)


@dataclass(frozen=True)
class Flow:
    """A lowering flow: a row of flows.FLOWS.

    `product` is what `engine` reads, by its format name. `check` refuses what a lowering may not
    say. `needs` are the Python packages; `find_missing` says quickly what else a lowering lacks
    here; `probe` raises where it cannot be made, after importing whatever that takes.
    `chooses_by` is the key that names what lowers ("partitioner"), and `must_choose` refuses to go
    without. `export` replaces torch.export. `own_quantization` brings a quantization that no recipe
    can replace. `eager` returns the lowered program as a function, where it has such a form.
    """

    name: str
    engine: str
    product: str
    make: Callable[[LoweringJob], LoweringOutput]
    check: Callable[[Lowering], None]
    chooses_by: str | None = None
    must_choose: bool = False
    needs: tuple[str, ...] = ()
    find_missing: Callable[[Lowering], str | None] | None = None
    probe: Callable[[Lowering], None] | None = None
    export: "Callable[[Model, Quantized, Lowering], torch.export.ExportedProgram] | None" = None
    own_quantization: Callable[[Lowering], dict[str, Any] | None] | None = None
    eager: "Callable[[torch.export.ExportedProgram, Lowering], Evaluate] | None" = None
    post_lowering: "PostLoweringQuantization | None" = None

    def read_choice(self, document: Mapping[str, Any]) -> str | None:
        """Reads the partitioner or recipe, by the key that the flow takes.

        Raises:
            RequestError: the flow reads another key, or none, or cannot go without.
        """
        for key in ("partitioner", "recipe"):
            if key != self.chooses_by and document.get(key):
                raise RequestError(f"the lowering flow {self.name} takes no {key}")
        chosen = document.get(self.chooses_by) if self.chooses_by else None
        if self.must_choose and not chosen:
            raise RequestError(f'a lowering of flow {self.name} needs a "{self.chooses_by}"')
        return chosen

    def export_program(
        self, model: "Model", quantized: "Quantized", lowering: Lowering
    ) -> "torch.export.ExportedProgram":
        """Exports the quantized module; an exported model that nothing quantized stays as it is."""
        from assay.toolchain.graph.export import export_module

        if model.exported is not None and quantized.module is model.module:
            return model.exported
        if self.export is not None:
            return self.export(model, quantized, lowering)
        return export_module(model, quantized)
