"""Recipes: presets, availability and the catalog."""
