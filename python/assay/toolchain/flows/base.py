"""What a lowering flow is: the way from an exported program to what one engine loads.

The flows are listed in flows.py. Nothing here, and nothing that a flow's file does when it is
imported, needs torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import RequestError

if TYPE_CHECKING:
    import torch

    from assay.toolchain.models.inputs import Sample
    from assay.toolchain.models.loader import Model
    from assay.toolchain.quantize.quantization import Quantized
    from assay.toolchain.sampled_model import Span
    from assay.toolchain.stages import StageLog

DEFAULT = "to_edge_transform_and_lower"
"""The flow of a lowering that names none."""

Made = tuple[list[Path], dict[str, Any]]
"""The files, the program first and none without a folder, and the manifest's program."""

Evaluate = Callable[..., Any]
"""Takes the inputs of one sample and returns its outputs."""


@dataclass(frozen=True)
class Lowering:
    """How an exported program becomes what an engine loads, as a recipe says it.

    `partitioner` is what the flow's `chooses_by` names: for one of executorch's own recipes its
    name.
    """

    flow: str = DEFAULT
    partitioner: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Order:
    """One piece of work for a flow.

    `folder` None: nothing is written. `finish` quantizes what the lowering made. `parts` are those
    of a joint program, each of which is described.
    """

    exported: "torch.export.ExportedProgram"
    lowering: Lowering
    folder: Path | None
    stages: "StageLog"
    finish: Callable[[Any], Any] | None = None
    parts: "Sequence[Span]" = ()


@dataclass(frozen=True)
class LateQuantization:
    """A quantization of what a flow's lowering made: no torch graph holds its result.

    `lower` is that lowering. `apply` takes what it made, the quantization's options and the
    calibration samples, and returns it quantized. `evaluate` makes a function of that, which
    computes quantize and dequantize as they are written.
    """

    name: str
    check_options: Callable[[Mapping[str, Any]], None]
    lower: "Callable[[torch.export.ExportedProgram, Lowering], Any]"
    apply: "Callable[[Any, Mapping[str, Any], Sequence[Sample]], Any]"
    evaluate: Callable[[Any], Evaluate]
    needs: tuple[str, ...] = ()


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
    make: Callable[[Order], Made]
    check: Callable[[Lowering], None]
    chooses_by: str | None = None
    must_choose: bool = False
    needs: tuple[str, ...] = ()
    find_missing: Callable[[Lowering], str | None] | None = None
    probe: Callable[[Lowering], None] | None = None
    export: "Callable[[Model, Quantized, Lowering], torch.export.ExportedProgram] | None" = None
    own_quantization: Callable[[Lowering], dict[str, Any] | None] | None = None
    eager: "Callable[[torch.export.ExportedProgram, Lowering], Evaluate] | None" = None
    late: LateQuantization | None = None

    def read_choice(self, document: Mapping[str, Any]) -> str | None:
        """What lowers, from the key that the flow reads.

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
