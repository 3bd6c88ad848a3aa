"""A repository that is watched on the devices of a fleet: builds travel with the jobs."""

import json

import pytest
from driver import Workplace
from fleet_hosts import Cluster
from toy_repository import Source, incidents, launches, watch

pytestmark = pytest.mark.slow

ON_FARM = ("--executor", "farm")


@pytest.fixture
def cluster(place: Workplace) -> Cluster:
    return Cluster(place)


def engines_of(cluster: Cluster, host: str) -> set[str]:
    file = cluster.folder / host / "home" / "engines" / "engines.json"
    builds = json.loads(file.read_text())["builds"] if file.exists() else []
    return {f"{build['name']}@{build['label']}" for build in builds}


def test_finds_the_commit_and_its_operator(place: Workplace, cluster: Cluster) -> None:
    source = Source(place)
    first = source.commit("Add a benchmark")
    source.commit_docs(2)
    culprit = source.commit("conv: simplify", conv=112)
    source.commit_docs(2)
    watch(place, *ON_FARM)
    found = incidents(place)
    assert [(one["state"], one["culprit"]) for one in found] == [("confirmed", culprit)]
    assert found[0]["attribution"]["operators"][0]["name"].startswith("conv")
    # Both builds of a sitting, and both sides of a comparison, were on one device.
    assert place.query("SELECT count(*) FROM attempt WHERE device NOT IN ('d1', 'd2')") == [(0,)]
    sittings = place.query("SELECT count(DISTINCT device) FROM attempt GROUP BY run")
    assert set(sittings) == {(1,)}
    arrived = engines_of(cluster, "d1") | engines_of(cluster, "d2")
    assert {f"toy@{first[:12]}", f"toy@{culprit[:12]}"} <= arrived

    before = launches(place)
    watch(place, *ON_FARM)
    assert launches(place) == before, "nothing is left to do"


def test_two_builds_are_compared_on_one_device(place: Workplace, cluster: Cluster) -> None:
    source = Source(place)
    commits = [source.commit("Add a benchmark"), source.commit("conv: simplify", conv=112)]
    place.ok("engine", "build", "toy.json", *commits)
    builds = ",".join(f"toy@{commit[:12]}" for commit in commits)
    compared = place.run(
        "compare", "bench.command.json", "--engine", builds, *ON_FARM, "--quiet", "--format", "json"
    )
    assert (compared.code, compared.json()["verdict"]) == (1, "slower"), compared
    assert len(cluster.submitted()) == 1


def test_a_bisection_runs_on_the_fleet(place: Workplace, cluster: Cluster) -> None:
    source = Source(place)
    first = source.commit("Add a benchmark")
    source.commit("pool: explain", conv=100.001)
    culprit = source.commit("conv: simplify", conv=112)
    last = source.commit("pool: explain again", conv=112.001)
    found = place.run("bisect", "toy.json", f"{first}..{last}", *ON_FARM, "--quiet")
    assert found.code in {0, 1}, found
    assert culprit[:12] in found.out
    assert cluster.submitted()


def test_a_device_without_a_fleet_is_refused(place: Workplace) -> None:
    Source(place).commit("Add a benchmark")
    refused = place.run("watch", "toy.json", "--once", "--device", "pi5")
    assert refused.code == 2
    assert "--executor" in refused.err
