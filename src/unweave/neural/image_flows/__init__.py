"""Normalising flows of images: layers, conditions and priors, and the flows of paper 000 that consist of them."""
