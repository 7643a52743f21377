"""003, Joshi et al., 'Who Guards the Guardians?': its fifteen experiments as sweeps, compared with its data.

`experiments` declares the cells, `protocols` the two ways to compute them, `figures` which cells a figure shows,
`authors_data` reads the authors' tables, and `agreement` compares.
"""
