"""003, Joshi et al., 'Who Guards the Guardians?': its fifteen experiments as sweeps, compared with its data.

`declared_sweeps` has the cells, `protocols` the two ways to compute them, `figures` which cells a figure shows,
`results` reads the authors' tables, `agreement` and `claims` compare, `drawing` draws, and `experiments` declares all.
"""
