"""The models of the conformance suite: networks of the usual kinds, and graphs that break tools."""
