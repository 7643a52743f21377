"""Report pages, figures and terminal tables, which are rendered from plain data."""

from unweave.randomness import import_without_drawing

import_without_drawing("rich.style")
