"""Exported graphs: export, intermediate outputs, isolated layers, joint programs."""
