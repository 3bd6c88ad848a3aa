"""Measures, evaluates and conformance-tests on-device AI models on every inference engine."""

__version__ = "0.1.0"
