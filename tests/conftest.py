"""Options of all tests, and what a machine without test devices means."""

from collections.abc import Generator

import pytest
from namespaces import NoDevice


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--approve", action="store_true", help="write goldens that differ anew")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    try:
        return (yield)
    except NoDevice as reason:
        pytest.skip(str(reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    try:
        return (yield)
    except NoDevice as reason:
        pytest.skip(str(reason))
