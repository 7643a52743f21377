"""Tables, arrays and decoders read from files."""
