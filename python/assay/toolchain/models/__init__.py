"""Models by reference, their inputs and their weights."""
