"""What the measurements of an audit mean: the four properties, the card, the adversary."""
