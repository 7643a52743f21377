"""Code that needs torch: Jacobians of decoders, normalising flows and their training, and published models."""

try:
    import torch  # noqa: F401
except ImportError:
    raise ModuleNotFoundError("This needs torch: install it with pip install 'unweave[torch]'.", name="torch") from None
