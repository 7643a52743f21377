"""003, Joshi et al., 'Who Guards the Guardians?': its fifteen experiments as sweeps, compared with its data.

`declared_sweeps` lists the cells, `run_protocols` has the two ways to compute them, and `figures` says which cells a
figure shows. `authors.results` reads the authors' tables, `authors.agreement` and `claims` compare with them, `drawing`
draws, and `experiments` declares all experiments.
"""

from __future__ import annotations
