"""Results of an audit from its measurements: the four properties, the check of the card, and the adversary."""
