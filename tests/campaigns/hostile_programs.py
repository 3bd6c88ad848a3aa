"""Prints what hostile programs and models get, in the sandbox and without it, as Markdown.

    python tests/campaigns/hostile_programs.py > table.md

Programs are those of tests/e2e/hostile_program.py, each executed by the command engine; models are
.pt2 files that try the same while `assay inspect --trust` loads them.
"""

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from driver import Workplace
from hostile_program import ATTACKS
from hostile_scene import Scene, open_scene

T = TypeVar("T")
MODES = ("required", "off")
DAEMONS = "leave_daemons"


def outcome_in(text: str) -> str:
    """Reads what one program printed: reached, or the reason of the refusal."""
    refusal = re.search(r"refused: (?:\[Errno -?\d+\] )?([A-Z][\w -]+|.+)", text)
    if refusal is not None:
        why = refusal[1].strip().lower()
        return "refused: the command fails" if why == "command" else f"refused: {why}"
    return "reached" if "reached" in text else "?"


def try_program(scene: Scene, name: str, mode: str) -> str:
    """Runs one attack as a program of the command engine."""
    scene.bench(name, f"--sandbox={mode}")
    row = scene.row(name)
    if name == DAEMONS:
        return "ended, 3 of them" if any("left 3 processes" in n for n in row["notes"]) else "?"
    if not scene.target.exists() or not (scene.place.folder / "program" / "attack.py").read_text():
        return "reached"  # A second launch finds nothing left to remove or to run.
    return outcome_in(str(row["text"]))


def try_models(scene: Scene, names: list[str], mode: str) -> dict[str, str]:
    """Runs the attacks as models of the toolchain; outcomes by attack."""
    path = scene.write_model(names)
    finished = scene.place.run("inspect", path, "--trust", f"--sandbox={mode}", timeout_s=600)
    told = re.findall(r"<(\w+)\s+([^>]*)>", finished.out + finished.err)
    return {name: outcome_in(text) for name, text in told}


def in_fresh_scene(task: Callable[..., T], *arguments: Any) -> T:
    """The task's result in a scene that nothing has touched."""
    with tempfile.TemporaryDirectory(prefix="assay-hostile-") as folder:
        place = Workplace(Path(folder))
        place.env["ASSAY_PYTHON"] = sys.executable
        with open_scene(place) as scene:
            try:
                return task(scene, *arguments)
            finally:
                place.clean_up()


def main() -> None:
    """Prints a line for each attack."""
    # Those that would outlive a job, or overwrite the script of those behind them.
    names = [name for name in ATTACKS if name not in (DAEMONS, "replace_program", "fill_disk")]
    models = {mode: in_fresh_scene(try_models, names, mode) for mode in MODES}
    print("| attack | program, boxed | not boxed | model, boxed | not boxed |")
    print("|---|---|---|---|---|")
    for name in ATTACKS:
        programs = [in_fresh_scene(try_program, name, mode) for mode in MODES]
        cells = [*programs, *(models[mode].get(name, "-") for mode in MODES)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
