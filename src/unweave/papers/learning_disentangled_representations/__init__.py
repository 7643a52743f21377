"""001: informativeness, separability and interpretability of trained encoders."""
