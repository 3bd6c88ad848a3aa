import os
import sys
from pathlib import Path

import pytest
from toolchain_client import Client
from toolchain_requests import FP32, INT8, PORTABLE, build, reference

HERE = Path(__file__).parent
FACTORIES = HERE / "toolchain_factories.py"
PLUGINS = [HERE / "plugins" / name for name in ("tiny_plugin.py", "broken_plugin.py")]


@pytest.fixture(scope="session")
def server():
    """A real fork server, warm, with the plug-ins of these tests."""
    plugins = os.pathsep.join(str(path) for path in PLUGINS)
    argv = [sys.executable, "-m", "assay.toolchain.server", "--jobs", "1"]
    client = Client(argv, ASSAY_PLUGINS=plugins)
    ready = client.next_event()
    assert ready["event"] == "ready"
    client.ready = ready
    yield client
    assert client.close() == 0


@pytest.fixture(scope="session")
def one_thread():
    """Keeps torch at one thread, as the fork server does; the machine may be shared."""
    from assay.toolchain import compat

    compat.prepare_torch()


@pytest.fixture(scope="session")
def factory():
    """Names a factory of factories.py as a model reference."""
    return lambda name: f"{FACTORIES}:{name}"


@pytest.fixture(scope="session")
def built(server, factory, tmp_path_factory):
    """The small net by three recipes, with its float and QDQ references."""
    root = tmp_path_factory.mktemp("built")
    recipes = (("portable", PORTABLE), ("fp32", FP32), ("int8", INT8))
    done = {name: build(server, factory("small"), recipe, root / name) for name, recipe in recipes}
    ref = factory("small")
    done["float32"] = reference(server, ref, root / "float32", kind="float32")
    done["qdq"] = reference(server, ref, root / "qdq", kind="qdq", quantization="xnnpack-int8")
    for event in done.values():
        assert event["outcome"] == "completed", event["text"]
    return root, {name: event["result"] for name, event in done.items()}
