"""The broker of a Ray cluster, without Ray: what becomes of jobs, devices and parts."""

from __future__ import annotations

import asyncio
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray")

from assay.fleet import ray_broker
from assay.fleet.ray_broker import Broker
from assay.fleet.work_command import MOST_EXECUTIONS

KEY = ("aa", 1)
JOB = {"job": "aa", "n": 1, "label": "net1", "run": {"id": "r1"}, "expected_ns": 5}
DESCRIPTION = {"device": "d1", "node": "n1"}


class QuietBroker(Broker):
    """Notes what it would have Ray execute."""

    def __init__(self) -> None:
        super().__init__({})
        self.followed: list[Any] = []
        self.held: list[str] = []

    def _follow(self, key: Any) -> None:
        self.followed.append(key)

    async def _wait_for_holder(self, device: str, node: str) -> None:
        self.held.append(node)


def tell(conversation: Any) -> Any:
    return asyncio.run(conversation)


async def one_device(broker: QuietBroker) -> None:
    await broker.announce("d1", DESCRIPTION)
    await broker.submit("device:d1", JOB)


def states(workers: list[dict[str, Any]]) -> dict[str, str]:
    return {worker["device"]: worker["state"] for worker in workers}


def test_a_known_job_is_followed_and_not_queued_again() -> None:
    async def conversation() -> QuietBroker:
        broker = QuietBroker()
        await one_device(broker)
        assert await broker.begin(KEY, "d1")
        first = await broker.next(["r1"])
        assert first is not None
        assert (first["event"], first["device"]) == ("started", "d1")
        assert await broker.next(["r1"]) is None
        # Another driver, which gets the message too.
        assert await broker.submit("device:d1", JOB) == "followed"
        assert await broker.next(["r1"]) == first
        assert await broker.next(["r2"]) is None
        return broker

    assert tell(conversation()).followed == [KEY]


def test_a_device_that_cannot_execute_gives_the_job_back_and_waits() -> None:
    async def conversation() -> None:
        broker = QuietBroker()
        await one_device(broker)
        await broker.begin(KEY, "d1")
        assert states(await broker.workers()) == {"d1": "busy"}
        await broker.put_out(KEY, "d1", "no adb")
        assert broker.followed == [KEY, KEY]
        assert states(await broker.workers()) == {"d1": "out"}
        assert await broker.is_held("d1", "out")
        assert await broker.announce("d1", DESCRIPTION) == {"out": "no adb", "job": ""}
        await broker.put_in("d1")
        assert not await broker.is_held("d1", "out")
        assert states(await broker.workers()) == {"d1": "idle"}

    tell(conversation())


def test_a_job_that_ends_no_execution_is_lost() -> None:
    async def conversation() -> None:
        broker = QuietBroker()
        await one_device(broker)
        begun = [await broker.begin(KEY, "d1") for _ in range(MOST_EXECUTIONS + 2)]
        assert begun == [True] * MOST_EXECUTIONS + [False, False]
        event = await broker.next(["r1"])
        assert event is not None
        assert event["event"] == "lost"
        assert await broker.submit("device:d1", JOB) == "lost", (
            "a driver to come makes the next try"
        )
        assert broker.followed == [KEY]

    tell(conversation())


def test_a_cancelled_job_does_not_begin_and_may_be_submitted_again() -> None:
    async def conversation() -> None:
        broker = QuietBroker()
        await one_device(broker)
        await broker.begin(KEY, "d1")
        assert await broker.is_wanted(KEY)
        assert await broker.cancel("r1") == 1
        assert await broker.cancel("r1") == 0
        told = await broker.next(["r1"])
        assert told is not None
        assert (told["event"], told["job"]) == ("cancelled", "aa")
        assert await broker.next(["r1"]) is None
        assert not await broker.is_wanted(KEY)
        assert not await broker.begin(KEY, "d1")
        assert await broker.queues() == []
        await broker.submit("device:d1", JOB)
        assert await broker.begin(KEY, "d1")
        assert broker.followed == [KEY, KEY]

    tell(conversation())


def test_a_part_that_was_taken_in_is_lost_for_a_driver_without_it() -> None:
    async def conversation() -> None:
        broker = QuietBroker()
        await one_device(broker)
        broker._jobs[KEY].state = "done"
        broker._parts["execution"] = (KEY, b"part")
        assert await broker.submit("device:d1", JOB) == "followed"
        await broker.forget("execution")
        assert await broker.submit("device:d1", JOB) == "lost"

    tell(conversation())


def test_a_queue_takes_what_is_not_known_of_a_job_from_the_others() -> None:
    async def conversation() -> None:
        broker = QuietBroker()
        await one_device(broker)
        for job, expected_ns in (("bb", 7), ("cc", 0)):
            await broker.submit("device:d1", {**JOB, "job": job, "expected_ns": expected_ns})
        await broker.submit(
            "device:d1", {**JOB, "run": {"id": "r2"}, "job": "dd", "expected_ns": 0}
        )
        queues = {queue["run"]: queue for queue in await broker.queues()}
        assert queues["r1"]["expected_ns"] == 18
        assert queues["r2"]["expected_ns"] == 0, "nothing is known of any"

    tell(conversation())


def test_a_drained_device_is_held_on_each_node_that_it_joins_with() -> None:
    async def conversation() -> QuietBroker:
        broker = QuietBroker()
        assert not await broker.drain("d1", "new battery")
        await one_device(broker)
        assert await broker.drain("d1", "new battery")
        await broker.announce("d1", DESCRIPTION)
        await broker.announce("d1", {**DESCRIPTION, "node": "n2"})
        assert states(await broker.workers()) == {"d1": "draining"}
        assert await broker.is_held("d1", "n1")
        await broker.drain("d1", "")
        assert not await broker.is_held("d1", "n1")
        assert states(await broker.workers()) == {"d1": "idle"}
        await asyncio.sleep(0)
        return broker

    assert tell(conversation()).held == ["n1", "n2"]


def test_a_worker_that_ends_waits_for_its_job_and_is_gone() -> None:
    async def conversation() -> None:
        broker = QuietBroker()
        await one_device(broker)
        await broker.begin(KEY, "d1")
        assert not await broker.finish("d1")
        await broker.cancel("r1")
        assert await broker.finish("d1")
        await broker.leave("d1")
        assert states(await broker.workers()) == {"d1": "gone"}

    tell(conversation())


def test_settings_that_the_node_lacks_are_told() -> None:
    async def conversation() -> None:
        facts = await Broker({"PATH": "1", "RAY_nobody_sets_this": "1"}).facts()
        assert facts["missing_settings"] == ["RAY_nobody_sets_this"]

    tell(conversation())


def test_a_silent_worker_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    async def conversation() -> None:
        broker = QuietBroker()
        await one_device(broker)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 60)
        (worker,) = await broker.workers()
        assert worker["state"] == "gone"
        assert "60 s" in worker["reason"]

    tell(conversation())


def test_a_worker_that_falls_silent_is_told_once_with_its_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def conversation() -> None:
        broker = QuietBroker()
        await one_device(broker)
        await broker.begin(KEY, "d1")
        started = await broker.next(["r1"])
        assert started is not None
        assert started["event"] == "started"
        assert (await broker.announce("d1", DESCRIPTION))["job"] == "net1"
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 4.5)
        silent = await broker.next(["r1"])
        assert silent is not None
        assert (silent["event"], silent["job"], silent["device"]) == ("silent", "aa", "d1")
        assert await broker.next(["r1"]) is None
        (worker,) = await broker.workers()
        assert worker["state"] == "gone"
        assert "while it executed net1" in worker["reason"]

    tell(conversation())


def test_what_a_device_lacks_gives_the_job_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    broker = SimpleNamespace(
        begin=SimpleNamespace(remote=lambda *_: True),
        put_out=SimpleNamespace(remote=lambda _key, _device, why: told.append(why)),
        is_held=SimpleNamespace(remote=lambda *_: False),
    )
    monkeypatch.setattr(ray_broker, "ray", SimpleNamespace(get=lambda answer: answer))
    about = {"device": "local", "name": "d1", "artifacts": "", "canary": ""}
    # Nothing is there, as while it is replaced; and one that says nothing, as of another version.
    for assay in ("/nothing/assay", "/bin/true"):
        command = json.dumps({**about, "assay": assay})
        monkeypatch.setenv(ray_broker.DEVICE_VARIABLE, command)
        assert ray_broker.execute(broker, {**JOB, "deadline_ns": 0}) == ("", b"", "")
    assert "No such file" in told[0]
    assert "printed no part" in told[1]
