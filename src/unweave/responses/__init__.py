"""Which factors are functions of others, and how every code responds to the factors; used by metrics and by trust."""
