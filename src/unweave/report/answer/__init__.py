"""The short answer that every result begins with, as plain data: factors, questions, what to report, what to do."""
