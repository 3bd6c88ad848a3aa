"""The plan of a synthetic history: what each commit changes, and what a watcher should find."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine import Engine

DRIFT_STEPS = 8
DRIFT_SHARE = 0.003
LEAST_COMMITS = 64


@dataclass(frozen=True)
class Change:
    """One commit of the branch; `side` holds the commits that a merge brings."""

    kind: str
    subject: str
    engine: Engine
    operator: str = ""
    share: float = 0.0  # Relative to the first commit's whole work; negative where it came back.
    side: tuple[Change, ...] = ()


def neutral(engine: Engine, number: int, chance: random.Random) -> Change:
    """A commit that changes documents or comments."""
    if chance.random() < 0.4:
        text = f"\nNote {number}.\n"
        return Change(
            "docs", f"docs: add note {number}", replace(engine, readme=engine.readme + text)
        )
    name = chance.choice(sorted(engine.blocks))
    return Change(
        "comment", f"{name}: explain, part {number}", engine.with_comment(name, f"Part {number}.")
    )


def merge(engine: Engine, number: int, chance: random.Random) -> Change:
    """A merge of two commits on a side branch, without any change of work."""
    first = engine.with_comment("pool", f"From the side, {number}.")
    second = replace(first, readme=first.readme + "\nFrom the side.\n")
    side = (
        Change("comment", "pool: explain on the side", first),
        Change("docs", "docs: add a note on the side", second),
    )
    return Change("merge", "Merge branch side", second, side=side)


def rename(engine: Engine, number: int, chance: random.Random) -> Change:
    """A file with another name."""
    return Change(
        "rename",
        "add: rename its file",
        replace(engine, files={**engine.files, "add": "residual_add"}),
    )


def steps_with_places(commits: int, chance: random.Random) -> dict[int, str]:
    """Kinds of the commits that are more than neutral, by their number."""
    places: dict[int, str] = {}
    kinds = ["slower_5", "slower_2", "back", "answer"]
    chance.shuffle(kinds)
    # The first commits of the branch are quiet, and eight or more lie between two steps.
    start = max(9, (commits - 53) // 2)
    for position, kind in enumerate(kinds):
        place = start + 9 * position + chance.randrange(2)
        places[place] = kind
        if kind == "back":
            places[place + 5] = "forth"
    for i in range(DRIFT_STEPS):
        places[commits - 2 * DRIFT_STEPS + 2 * i + 1] = "drift"
    free = [i for i in range(2, commits - 2 * DRIFT_STEPS - 2)]
    chance.shuffle(free)
    for kind in ("broken", "revert", "merge", "rename"):
        place = next(i for i in free if not places.keys() & {i - 1, i, i + 1, i + 2})
        places[place] = kind
        if kind in ("broken", "revert"):
            places[place + 1] = "mend" if kind == "broken" else "undo"
    return places


def changes(commits: int, seed: int, only: str | None) -> Iterator[Change]:
    """The commits of the branch, oldest first. `only`: the kind of the one change, "" for none."""
    chance = random.Random(seed)
    if only is None:
        places = steps_with_places(commits, chance)
    else:
        places = {chance.randrange(1, commits): only} if only else {}
    engine = Engine()
    yield Change("first", "Add a small network", engine)
    before = engine
    for number in range(1, commits):
        change = change_of(places.get(number, "neutral"), engine, before, number, chance)
        before, engine = engine, change.engine
        yield change


def change_of(
    kind: str, engine: Engine, before: Engine, number: int, chance: random.Random
) -> Change:
    """The commit of this kind. `before`: the engine before the last commit."""
    slower = {
        "slower_5": ("conv_dw", 0.05),
        "slower_2": ("conv_pw", 0.02),
        "back": ("conv_stem", 0.03),
    }
    if kind in slower:
        name, share = slower[kind]
        return Change(kind, f"{name}: simplify the loop", engine.slower(name, share), name, share)
    if kind == "forth":
        return Change(
            kind, "conv_stem: unroll again", engine.slower("conv_stem", -0.03), "conv_stem", -0.03
        )
    if kind == "drift":
        more = engine.slower("dense", DRIFT_SHARE)
        return Change(kind, f"dense: check more, part {number}", more, "dense", DRIFT_SHARE)
    if kind == "answer":
        return Change(kind, "relu: use another slope", engine.with_answer("relu", 0.15), "relu")
    if kind == "broken":
        return Change(kind, "work: begin a change", replace(engine, is_broken=True))
    if kind == "mend":
        return Change(kind, "work: end the change", replace(engine, is_broken=False))
    if kind == "revert":
        return Change(kind, "add: try something", engine.with_comment("add", "An attempt."))
    if kind == "undo":
        return Change(kind, 'Revert "add: try something"', before)
    special = {"merge": merge, "rename": rename}
    return special.get(kind, neutral)(engine, number, chance)
