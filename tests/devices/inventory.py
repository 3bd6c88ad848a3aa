"""The list of devices of a workplace, as a user edits it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from driver import Document, Workplace


@contextmanager
def edited_inventory(place: Workplace) -> Iterator[Document]:
    """The document of devices.json, which is written back when the block ends."""
    file = place.folder / "config" / "assay" / "devices.json"
    document = json.loads(file.read_text())
    yield document
    file.write_text(json.dumps(document))


def write_entry(place: Workplace, **settings: Any) -> None:
    """Adds settings to the entry of each device."""
    with edited_inventory(place) as document:
        for device in document["devices"]:
            device.update(settings)
