"""Why a score is or is not trusted: what moves it, what random codes get, and the numbers computed again."""
