"""Makes the small programs of this folder's tests, with inputs and eager outputs beside them.

    python make_test_programs.py FOLDER

Each NAME.pte has NAME.safetensors: inputs "in.I", outputs "out.I". Made once: a finished folder is
left alone. Several processes may ask at once. Exits with 3 when PyTorch or ExecuTorch is missing.
"""

from __future__ import annotations

import fcntl
import hashlib
import sys
from pathlib import Path
from typing import Any


def is_made(folder: Path) -> bool:
    """True if this very script has made the programs in the folder."""
    stamp = folder / "stamp"
    return stamp.exists() and stamp.read_text() == digest_of_this()


def digest_of_this() -> str:
    """SHA-256 of this script."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


if __name__ == "__main__" and is_made(Path(sys.argv[1])):
    sys.exit(0)  # before PyTorch is imported, which takes seconds

try:
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import (
        ExecutorchBackendConfig,
        to_edge_transform_and_lower,
    )
    from executorch.exir.passes import MemoryPlanningPass
    from safetensors.torch import save_file
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(3)


class Add(torch.nn.Module):
    """x + 2 y."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Computes."""
        return x + 2 * y


class Mlp(torch.nn.Module):
    """Two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Computes."""
        return self.layers(x)


class ManyTypes(torch.nn.Module):
    """Inputs and outputs of other types than float32."""

    def forward(
        self, mask: torch.Tensor, index: torch.Tensor, half: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Computes."""
        return torch.logical_not(mask), index + 1, half * 2


class Counter(torch.nn.Module):
    """State that is kept between inferences."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Computes."""
        self.count.add_(1)
        return x + self.count


class WritesInput(torch.nn.Module):
    """Changes its input on the way."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Computes."""
        x.add_(1)
        return x * 2


class ChannelsLast(torch.nn.Module):
    """An input whose channels lie innermost."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Computes."""
        return torch.relu(x)


def lower(
    module: torch.nn.Module,
    inputs: tuple[torch.Tensor, ...],
    partitioners: tuple[Any, ...] = (),
    dynamic_shapes: dict[str, Any] | None = None,
    config: ExecutorchBackendConfig | None = None,
) -> Any:
    """The module as an ExecuTorch program."""
    program = torch.export.export(module.eval(), inputs, dynamic_shapes=dynamic_shapes)
    edge = to_edge_transform_and_lower(program, partitioner=list(partitioners))
    return edge.to_executorch(config or ExecutorchBackendConfig())


def save(
    folder: Path,
    name: str,
    module: torch.nn.Module,
    inputs: tuple[torch.Tensor, ...],
    **options: Any,
) -> None:
    """Writes the program, its data files, inputs and eager outputs."""
    lowered = lower(module, inputs, **options)
    (folder / f"{name}.pte").write_bytes(lowered.buffer)
    if options.get("config") is not None:
        lowered.write_tensor_data_to_file(str(folder))
    outputs = module(*(one.clone() for one in inputs))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    tensors = {f"in.{i}": t.contiguous().clone() for i, t in enumerate(inputs)}
    tensors |= {f"out.{i}": t.detach().contiguous().clone() for i, t in enumerate(outputs)}
    save_file(tensors, folder / f"{name}.safetensors")


def make_all(folder: Path) -> None:
    """Makes every program."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    vector = (torch.randn(2, 3), torch.randn(2, 3))
    save(folder, "add_portable", Add(), vector)
    mlp = Mlp()
    save(folder, "mlp_portable", mlp, (torch.randn(4, 8),))
    save(folder, "mlp_xnnpack", mlp, (torch.randn(4, 8),), partitioners=(XnnpackPartitioner(),))
    unplanned = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False)
    )
    save(folder, "writes_input", WritesInput(), (torch.randn(2, 3),), config=unplanned)
    types = (
        torch.tensor([True, False, True]),
        torch.tensor([3, -4], dtype=torch.int64),
        torch.tensor([0.5, 1.5], dtype=torch.float16),
    )
    save(folder, "many_types", ManyTypes(), types)
    rows = torch.export.Dim("rows", min=1, max=6)
    save(
        folder,
        "dynamic",
        Add(),
        (torch.randn(6, 3), torch.randn(6, 3)),
        dynamic_shapes={"x": {0: rows}, "y": {0: rows}},
    )
    save(folder, "counter", Counter(), (torch.zeros(1),))
    save(
        folder,
        "channels_last",
        ChannelsLast(),
        (torch.randn(1, 3, 4, 5).to(memory_format=torch.channels_last),),
    )
    save(
        folder,
        "external",
        mlp,
        (torch.randn(4, 8),),
        config=ExecutorchBackendConfig(external_constants=True),
    )


def make_for_openvino(folder: Path) -> None:
    """Makes a program for the OpenVINO delegate, where its Python side is installed."""
    try:
        from executorch.backends.openvino.partitioner import OpenvinoPartitioner
        from executorch.exir.backend.backend_details import CompileSpec
    except ImportError:
        return
    torch.manual_seed(0)
    partitioner = OpenvinoPartitioner([CompileSpec("device", b"CPU")])
    save(folder, "mlp_openvino", Mlp(), (torch.randn(4, 8),), partitioners=(partitioner,))


def main() -> int:
    """Makes the programs if nobody else has."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_made(folder):
            make_all(folder)
            make_for_openvino(folder)
            (folder / "stamp").write_text(digest_of_this())
    return 0


if __name__ == "__main__":
    sys.exit(main())
