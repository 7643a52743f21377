"""Real files behind one interface."""
