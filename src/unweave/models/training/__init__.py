"""How a fleet is trained: images, settings, stacks of models, and the loop over them."""
