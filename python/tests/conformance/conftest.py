import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Keeps torch at one thread, as the fork server does; the machine may be shared."""
    torch.set_num_threads(1)
