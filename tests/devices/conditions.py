"""Conditions that go wrong with a board, as data: steps for when each begins and ends.

A step is the name of a switch below with its values, so that a test can choose conditions by
chance and a person can add one without a line of code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from board import GUEST, USER, Board

Steps = dict[str, Any]

AGENT = ".cache/assay-agent"
YOUNG = (f"{AGENT}/assay-agent-*", f"{AGENT}/blobs/*", f"{AGENT}/trees/**/*")
"""Files of Assay that a board may lose when it loses its power."""


@dataclass(frozen=True)
class Condition:
    """begins, ends: steps. told: a part of what is said where a run cannot go on."""

    name: str
    begins: Steps
    ends: Steps
    told: str = ""


CONDITIONS = (
    Condition("slow_link", {"link": {"bytes_per_s": 400_000, "delay_s": 0.1}}, {"link": {}}),
    Condition("cut_link", {"cable": "out"}, {"cable": "in"}, "not reachable|does not answer"),
    Condition("half_open_link", {"connections": "forgotten"}, {}),
    Condition("full_disk", {"disk": "full"}, {"disk": "free"}, "No space left|full"),
    Condition("full_memory_disk", {"tmp": "full"}, {"tmp": "free"}, "No space left|full"),
    Condition("folder_of_another", {"owner": GUEST}, {"owner": USER}, "ermission|another user"),
    Condition("trees_of_another", {"owner_of_trees": GUEST}, {"owner_of_trees": USER}, "ermission"),
    Condition("killed_agent", {"agent": "killed"}, {}),
    Condition("lost_power", {"power": {}}, {}),
    Condition("lost_power_and_bytes", {"power": {"torn": YOUNG}}, {}),
    Condition("lost_power_and_home", {"power": {"empties_home": True}}, {}),
    Condition("clock_ahead", {"times": "2040-01-01"}, {}),
    Condition("clock_behind", {"times": "1971-01-01"}, {}),
)


def find_condition(name: str) -> Condition:
    """The condition of a name."""
    return next(one for one in CONDITIONS if one.name == name)


class Harshness:
    """Applies steps to a board that has a relay, and a guest for other owners."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._switches: dict[str, Callable[[Any], None]] = {
            "link": self._link,
            "cable": self._cable,
            "connections": lambda _: board.forget_connections(),
            "disk": lambda how: board.fill_disk() if how == "full" else board.free_disk(),
            "tmp": self._tmp,
            "owner": lambda user: board.give_away(AGENT, user),
            "owner_of_trees": lambda user: board.give_away(f"{AGENT}/trees", user),
            "agent": lambda _: board.kill_agent(),
            "power": lambda how: board.lose_power(
                *how.get("torn", ()), empties_home=how.get("empties_home", False)
            ),
            "times": self._times,
        }

    def apply(self, steps: Steps) -> None:
        """Takes the steps in their order."""
        for name, values in steps.items():
            self._switches[name](values)

    def _link(self, settings: dict[str, float]) -> None:
        self._board.set_link(**{"bytes_per_s": 0, "delay_s": 0, **settings})

    def _cable(self, how: str) -> None:
        (self._board.link_down if how == "out" else self._board.link_up)()

    def _tmp(self, how: str) -> None:
        script = "cat /dev/zero >/tmp/filling 2>/dev/null" if how == "full" else "rm /tmp/filling"
        self._board.inside(script)

    def _times(self, date: str) -> None:
        """Assay's files are as old as if they were made under another clock."""
        self._board.inside(f"find /home/board/{AGENT} -exec touch -h -d {date} {{}} + || :")
