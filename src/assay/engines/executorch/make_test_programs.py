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

try:
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import (
        ExecutorchBackendConfig,
        to_edge_transform_and_lower,
    )
    from safetensors.torch import save_file
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(3)


class Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + 2 * y


class Mlp(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class ManyTypes(torch.nn.Module):
    def forward(
        self, mask: torch.Tensor, index: torch.Tensor, half: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.logical_not(mask), index + 1, half * 2


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return x + self.count


class ChannelsLast(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def lower(module, inputs, partitioners=(), dynamic_shapes=None, config=None):
    program = torch.export.export(module.eval(), inputs, dynamic_shapes=dynamic_shapes)
    edge = to_edge_transform_and_lower(program, partitioner=list(partitioners))
    return edge.to_executorch(config or ExecutorchBackendConfig())


def save(folder: Path, name: str, module, inputs, **options) -> None:
    lowered = lower(module, inputs, **options)
    (folder / f"{name}.pte").write_bytes(lowered.buffer)
    if options.get("config") is not None:
        lowered.write_tensor_data_to_file(str(folder))
    outputs = module(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    tensors = {f"in.{i}": t.contiguous().clone() for i, t in enumerate(inputs)}
    tensors |= {f"out.{i}": t.detach().contiguous().clone() for i, t in enumerate(outputs)}
    save_file(tensors, folder / f"{name}.safetensors")


def make_all(folder: Path) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    vector = (torch.randn(2, 3), torch.randn(2, 3))
    save(folder, "add_portable", Add(), vector)
    mlp = Mlp()
    save(folder, "mlp_portable", mlp, (torch.randn(4, 8),))
    save(folder, "mlp_xnnpack", mlp, (torch.randn(4, 8),), partitioners=[XnnpackPartitioner()])
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


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / "stamp"
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != digest:
            make_all(folder)
            stamp.write_text(digest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
