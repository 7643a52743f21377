"""002: what codes tell of a factor alone, redundantly and together, for trained encoders."""
