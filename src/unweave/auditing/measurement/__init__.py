"""Which cases an audit measures, and measuring them within a budget."""
