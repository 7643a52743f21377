"""From any table to checked columns of numbers."""
