"""Placeholder filled below."""
