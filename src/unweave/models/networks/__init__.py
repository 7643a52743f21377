"""Encoder and decoder networks as frozen values; the weights of several models are stacked, one slice per model."""

from unweave.models.networks.convolutional import Convolutional
from unweave.models.networks.perceptron import MLP, Dense
from unweave.models.networks.trunk import Layer, Sizes, Trunk, Weights, initial_weights

TRUNKS = {"mlp": MLP, "conv": Convolutional}

__all__ = ["MLP", "TRUNKS", "Convolutional", "Dense", "Layer", "Sizes", "Trunk", "Weights", "initial_weights"]
