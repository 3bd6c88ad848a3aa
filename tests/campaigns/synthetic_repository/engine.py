"""The files of the synthetic engine, and what a commit can change in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

FOLDER = Path(__file__).parent / "engine"

# Blocks of each operator in the first commit; together about 3 ms on a processor of 2023.
FIRST_BLOCKS = {
    "conv_stem": 600,
    "conv_dw": 900,
    "conv_pw": 800,
    "relu": 100,
    "add": 100,
    "pool": 150,
    "dense": 350,
}

OPERATOR = """#include "../work.h"
{comment}
void {name}(const Vector& x, Vector& y) {{
  constexpr int kBlocks = {blocks};
  repeat(kBlocks, {{.scale = {scale}F, .offset = 0.25F}}, x, y);
}}
"""


@dataclass(frozen=True)
class Engine:
    """One state of the engine's sources."""

    blocks: dict[str, int] = field(default_factory=lambda: dict(FIRST_BLOCKS))
    scales: dict[str, float] = field(default_factory=lambda: dict.fromkeys(FIRST_BLOCKS, 0.125))
    comments: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # Name of an operator's file, if another.
    readme: str = ""
    is_broken: bool = False

    @property
    def work(self) -> int:
        """Blocks of one inference."""
        return sum(self.blocks.values())

    def slower(self, name: str, share: float) -> Engine:
        """Adds work to one operator, as a share of the first commit's whole work."""
        more = round(share * sum(FIRST_BLOCKS.values()))
        return replace(self, blocks={**self.blocks, name: self.blocks[name] + more})

    def with_comment(self, name: str, text: str) -> Engine:
        """Adds a comment to one operator's file: other sources and the same program."""
        return replace(self, comments={**self.comments, name: f"\n// {text}"})

    def with_answer(self, name: str, scale: float) -> Engine:
        """Changes a factor in one operator: the same work and other results."""
        return replace(self, scales={**self.scales, name: scale})

    def sources(self) -> dict[str, str]:
        """Content of every file by its path."""
        files = {}
        for path in sorted(FOLDER.rglob("*")):
            if path.is_file():
                files[path.relative_to(FOLDER).as_posix()] = path.read_text()
        files["README.md"] += self.readme
        for name, blocks in self.blocks.items():
            text = OPERATOR.format(
                name=name,
                blocks=blocks,
                scale=self.scales[name],
                comment=self.comments.get(name, ""),
            )
            files[f"src/ops/{self.files.get(name, name)}.cpp"] = text
        names = [self.files.get(name, name) for name in self.blocks]
        files["src/operators.cpp"] = "".join(f'#include "ops/{name}.cpp"\n' for name in names)
        if self.is_broken:
            files["src/work.cpp"] += "\nthis does not compile;\n"
        return files
