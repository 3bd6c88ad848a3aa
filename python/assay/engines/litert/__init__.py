"""LiteRT as an engine."""
