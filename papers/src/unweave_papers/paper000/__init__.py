"""000, Galperin and Koethe, 'Analyzing Generative Models by Manifold Entropic Metrics': its flows and VAEs."""

from __future__ import annotations
