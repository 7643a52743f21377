"""Normalising flows of images: their layers, conditions and priors, and the flows of paper 000 made of them."""
