"""Compares the rule of `assay history` with those of two peers on the same simulated series.

    python studies/history/peers.py --bin build/release/bin --series 200

Installs apache-otava and asv into a temporary environment, exports the series of
assay-history-campaign and prints a Markdown table: the share of 100 commits without a change that
raise an alarm, and of steps that are found within three commits, 10 and 30 commits later.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

PACKAGES = ("apache-otava==0.8.0", "asv==0.6.6")
FAMILIES = ("Gauss", "3 % spikes", "t3", "AR 0.3")
STEPS = (1, 2, 5)
SEEN = (10, 30)
STEP_AT = 70
TOLERANCE = 3


def rates_of_assay(bin_folder: Path, series: int) -> dict[str, dict[str, float]]:
    """The campaign's own table by family: "false", and "2 % @10" for each step."""
    command = [str(bin_folder / "assay-history-campaign"), str(series), "--check"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    rates = {}
    for row in map(json.loads, lines):
        found = {
            f"{step} % @{seen}": row[f"{step} % @{seen}"]["found"]
            for step in STEPS
            for seen in SEEN
        }
        rates[row["family"]] = {"false": row["false"], **found}
    return rates


def changes_of_peers(bin_folder: Path, series: int) -> dict[str, dict[str, list[list[int]]]]:
    """Changes by each peer's rule in each file of series."""
    with tempfile.TemporaryDirectory(prefix="assay-peers-") as folder:
        place = Path(folder)
        campaign = str(bin_folder / "assay-history-campaign")
        subprocess.run([campaign, "--export", str(place / "series"), str(series)], check=True)
        venv.create(place / "venv", with_pip=True)
        python = str(place / "venv" / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        rules = str(Path(__file__).with_name("peer_rules.py"))
        command = [python, rules, str(place / "series")]
        found: dict[str, Any] = json.loads(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout
        )
    return found


def rates_of_peer(found: dict[str, list[list[int]]]) -> dict[str, dict[str, float]]:
    """Rates as those of Assay, from positions of changes."""
    rates: dict[str, dict[str, float]] = {}
    for family in FAMILIES:
        alarmed = [bool(changes) for changes in found[family]]
        rates[family] = {"false": 100 * sum(alarmed) / len(alarmed)}
        for step in STEPS:
            for seen in SEEN:
                name = f"{step} % @{seen}"
                hits = [
                    any(abs(change - STEP_AT) <= TOLERANCE for change in changes)
                    for changes in found[f"{family} {name}"]
                ]
                rates[family][name] = 100 * sum(hits) / len(hits)
    return rates


def table(rules: dict[str, dict[str, dict[str, float]]]) -> str:
    """One row a family and rule."""
    names = [f"{step} % @{seen}" for step in STEPS for seen in SEEN]
    heads = [f"{step} %, {seen} later" for step in STEPS for seen in SEEN]
    lines = [
        f"| noise | rule | false alarms | {' | '.join(heads)} |",
        f"|---|---|---|{'---|' * len(heads)}",
    ]
    for family in FAMILIES:
        for rule, rates in rules.items():
            row = rates[family]
            cells = " | ".join(f"{row[name]:.1f}" for name in names)
            lines.append(f"| {family} | {rule} | {row['false']:.1f} | {cells} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--series", type=int, default=200)
    options = parser.parse_args()
    found = changes_of_peers(options.bin, options.series)
    rules = {"assay": rates_of_assay(options.bin, options.series)}
    rules.update({name: rates_of_peer(by_file) for name, by_file in found.items()})
    sys.stdout.write(table(rules))


if __name__ == "__main__":
    main()
