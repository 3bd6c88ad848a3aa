"""Expected outputs of a model, with bounds of error."""
