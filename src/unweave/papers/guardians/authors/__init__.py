"""What the authors published: their numbers, the metrics of their code, and how ours agree."""
