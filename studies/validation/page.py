"""Judges a recording and writes docs/results/validation.md.

    python page.py FOLDER [--trials 300] [--trials-alike 1000]

FOLDER is what record.py filled. Writes the recorded floors to pools.json beside this file, from
which a test draws again, and the page.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from neighbours import STATES
from peers import judge_cells, judge_warmup
from samples import Cell, read_cells, write_bare_pool, write_pools
from scipy import stats
from workloads import BIN, ROOT

HERE = Path(__file__).parent
POOLS = HERE / "pools.json"
PAGE = ROOT / "docs/results/validation.md"
BARE_MATTERS = 0.5

Row = Iterable[object]


def table(head: Row, rows: Iterable[Row]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(list(head)), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def percent(share: float, digits: int = 1) -> str:
    """Returns "99.3 %" for 0.993."""
    return f"{100 * share:.{digits}f} %"


def with_bounds(share: dict[str, float], digits: int = 1) -> str:
    """A share with its interval: "0.2 % [0.0, 0.5]"."""
    low, high = (f"{100 * share[end]:.{digits}f}" for end in ("low", "high"))
    return f"{percent(share['share'], digits)} [{low}, {high}]"


def bounds_of(count: int, trials: int, digits: int = 1) -> str:
    """Count of trials with its Clopper-Pearson interval at 95 %."""
    interval = stats.binomtest(count, trials).proportion_ci(0.95, method="exact")
    low, high = (f"{100 * end:.{digits}f}" for end in (interval.low, interval.high))
    return f"{count} of {trials} [{low}, {high} %]"


def judge(pools: Path, *flags: str) -> Any:
    """Runs assay-validation-judge and returns its output."""
    command = [BIN / "assay-validation-judge", pools, *flags]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def machine_text(machine: dict[str, Any]) -> str:
    """One line on where and when."""
    return (
        f"Recorded on {machine['date']}: {machine['processor']}, {machine['cores']} shared cores, "
        f"Linux {machine['kernel']}."
    )


def live_rows(cells: list[Cell]) -> list[Row]:
    """Verdicts of the live comparisons of a program and its copy, by state."""
    rows: list[Row] = []
    for state in STATES:
        answers = [a for c in cells if c.state == state and not c.effect for a in c.answers]
        looked = sum(
            look["verdict"] in ("slower", "faster") for a in answers for look in a["looks"]
        )
        final = [answer["verdict"] for answer in answers]
        different = sum(verdict in ("slower", "faster") for verdict in final)
        seconds = sum(answer["wall_ns"] for answer in answers) / 1e9 / len(answers)
        rows.append(
            [
                *(state, len(answers), looked, bounds_of(different, len(answers))),
                *(final.count("equivalent"), final.count("changed_less")),
                *(final.count("inconclusive"), f"{seconds:.1f} s"),
            ]
        )
    return rows


def alike_rows(results: list[dict[str, Any]]) -> list[Row]:
    """Resampled comparisons of a program and its copy."""
    rows: list[Row] = []
    for cell in results:
        if cell["effect"]:
            continue
        usual = cell["sequential"][0]
        verdicts = usual["verdicts"]
        rows.append(
            [
                *(cell["workload"], cell["state"], 2 * cell["blocks"]),
                *(with_bounds(usual["different"], 2), with_bounds(usual["confirmed"], 2)),
                *(percent(verdicts[v]["share"]) for v in ("changed_less", "equivalent")),
                *(percent(verdicts["inconclusive"]["share"]), f"{usual['pairs']:.1f}"),
            ]
        )
    usual = [cell["sequential"][0] for cell in results if not cell["effect"]]
    trials = sum(cell["trials"] for cell in results if not cell["effect"])
    both = [
        bounds_of(sum(one[what]["count"] for one in usual), trials, 2)
        for what in ("different", "confirmed")
    ]
    return [*rows, ["all", "", "", *both, "", "", "", ""]]


def coverage_rows(results: list[dict[str, Any]]) -> list[Row]:
    """Tabulates how often the 95 % interval holds the truth, and how often the test rejects it."""
    return [
        [
            *(cell["workload"], cell["state"]),
            *(with_bounds(fixed["covered"]) for fixed in cell["fixed"]),
            *(percent(fixed["rejected"]["share"]) for fixed in cell["fixed"]),
        ]
        for cell in results
        if not cell["effect"]
    ]


def power_rows(
    results: list[dict[str, Any]], cells: list[Cell], instructions: dict[str, Any]
) -> list[Row]:
    """Tabulates how often more work is found and in what time, by workload, state and effect."""
    pair_s = {(c.workload, c.state, c.effect): c.pair_s for c in cells}
    rows: list[Row] = []
    for cell in results:
        effect = cell["effect"]
        if not effect:
            continue
        strict = cell["sequential"][1]
        work = instructions[f"instructions {cell['workload']}"]["ratios"][f"{effect:g}"]
        seconds = strict["pairs"] * pair_s[cell["workload"], cell["state"], effect]
        wrong = strict["rejected"]["count"] - strict["rejected_right"]["count"]
        rows.append(
            [
                *(cell["workload"], cell["state"], f"+{100 * work:.2f} %"),
                *(f"{100 * cell['truth']:+.2f} %", with_bounds(strict["rejected_right"])),
                *(wrong, f"{strict['pairs']:.1f}", f"{seconds:.1f} s"),
                with_bounds(cell["fixed"][2]["rejected_right"]),
            ]
        )
    return rows


def peer_rows(found: list[dict[str, Any]], results: list[dict[str, Any]]) -> list[Row]:
    """Share called different by other rules and by Assay, over the workloads, worst cell behind."""
    rows: list[Row] = []
    names = [*dict.fromkeys(one["rule"] for one in found)]
    for name in names:
        row: list[object] = [name]
        for state in STATES:
            shares = [
                one["different"]
                for one in found
                if one["rule"] == name and one["state"] == state and not one["effect"]
            ]
            row.append(f"{percent(sum(shares) / len(shares))} ({percent(max(shares))})")
        for effect in (0.01, 0.05):
            shares = [
                one["right"] for one in found if one["rule"] == name and one["effect"] == effect
            ]
            row.append(f"{percent(sum(shares) / len(shares))} ({percent(min(shares))})")
        rows.append(row)
    row = ["Assay, before confirmation"]
    for state in STATES:
        shares = [
            c["sequential"][0]["different"]["share"]
            for c in results
            if c["state"] == state and not c["effect"]
        ]
        row.append(f"{percent(sum(shares) / len(shares))} ({percent(max(shares))})")
    for effect in (0.01, 0.05):
        shares = [
            c["sequential"][1]["rejected_right"]["share"] for c in results if c["effect"] == effect
        ]
        row.append(f"{percent(sum(shares) / len(shares))} ({percent(min(shares))})")
    return [*rows, row]


def warmup_rows(found: dict[str, list[dict[str, Any]]]) -> list[Row]:
    """Errors of warm-up rules by state."""
    rows: list[Row] = []
    for state, rules in found.items():
        for rule in rules:
            name = "found in the times" if rule["rule"] == "detected" else f"first {rule['rule']}"
            used = rule["launches"] - rule["refused"]
            rows.append(
                [state, name, rule["launches"], rule["refused"], bounds_of(rule["off"], used)]
            )
    return rows


def cost_rows(results: list[dict[str, Any]], cells: list[Cell]) -> list[Row]:
    """Seconds to an answer: looks, 40 pairs, and one launch of each side."""
    pair_s = {(c.workload, c.state, c.effect): c.pair_s for c in cells}
    rows: list[Row] = []
    for cell in results:
        if cell["effect"] not in (0, 0.02):
            continue
        each = pair_s[cell["workload"], cell["state"], cell["effect"]]
        look = cell["sequential"][0 if not cell["effect"] else 1]
        rows.append(
            [
                *(cell["workload"], cell["state"], f"{100 * cell['effect']:+.0f} %"),
                *(f"{look['pairs']:.1f}", f"{look['pairs'] * each:.1f} s"),
                *(f"{40 * each:.1f} s", f"{each:.2f} s"),
            ]
        )
    return rows


def bare_rows(answers: list[dict[str, Any]]) -> list[Row]:
    """Assay's runner against the bare loop, by Assay's own test."""
    return [
        [
            *(one["state"], one["pairs"], f"{100 * one['ratio']:+.2f} %"),
            *(f"[{100 * one['low']:+.2f}, {100 * one['high']:+.2f}] %", one["verdict"]),
        ]
        for one in answers
    ]


def page_of(folder: Path, trials: int, trials_alike: int) -> str:
    """The whole page."""
    recording = json.loads((folder / "recording.json").read_text())
    cells = read_cells(folder)
    write_pools(cells, recording["machine"], POOLS)
    write_bare_pool(recording, folder / "bare.json")
    judged = judge(POOLS, "--trials", str(trials), "--trials-alike", str(trials_alike))
    results = judged["cells"]
    misses = "\n".join(f"- {miss}" for miss in judged["misses"]) or "None."
    return (
        (HERE / "page.md")
        .read_text()
        .format(
            machine=machine_text(recording["machine"]),
            trials=trials,
            trials_alike=trials_alike,
            live=table(
                [
                    *(
                        "state",
                        "comparisons",
                        "looks at which it seemed different",
                        "called different",
                    ),
                    *("no difference", "changed, less", "cannot tell", "each took"),
                ],
                live_rows(cells),
            ),
            alike=table(
                [
                    *("workload", "state", "pairs in the pool", "called different", "confirmed"),
                    *("changed, less", "no difference", "cannot tell", "pairs"),
                ],
                alike_rows(results),
            ),
            coverage=table(
                ["workload", "state", *(f"holds, {n} pairs" for n in (10, 20, 40))]
                + [f"p ≤ 5 %, {n}" for n in (10, 20, 40)],
                coverage_rows(results),
            ),
            power=table(
                [
                    *("workload", "state", "instructions", "time", "found within 40 pairs"),
                    *("wrong sign", "pairs", "seconds", "found with 40 fixed pairs"),
                ],
                power_rows(results, cells, recording["cells"]),
            ),
            peers=table(
                ["rule", *(f"alike, {state}" for state in STATES), "+1 % found", "+5 % found"],
                peer_rows(judge_cells(cells), results),
            ),
            warmup=table(
                ["state", "warm-up", "launches", "refused as unsteady", "off by more than 5 %"],
                warmup_rows(judge_warmup(folder, recording)),
            ),
            cost=table(
                ["workload", "state", "effect", "pairs", "looks", "40 pairs", "one launch each"],
                cost_rows(results, cells),
            ),
            bare=table(
                ["state", "pairs", "Assay against bare", "interval", "answer"],
                bare_rows(judge(folder / "bare.json", "--once", str(BARE_MATTERS))),
            ),
            misses=misses,
        )
    )


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=300, help="where something differs")
    parser.add_argument("--trials-alike", type=int, default=1000, help="where nothing does")
    args = parser.parse_args()
    PAGE.write_text(page_of(args.folder, args.trials, args.trials_alike))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
