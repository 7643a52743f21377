"""The short answer at the beginning of every result, as plain data: factors, questions, what to report, next steps."""
