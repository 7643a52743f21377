"""Arrays in, numbers out: frozen values that know nothing of Evidence."""
