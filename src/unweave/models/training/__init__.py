"""Training of a fleet: images, settings, stacks of models, and the loop over them."""
