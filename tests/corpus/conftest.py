# they are run as programs; importing them computes inputs and sets environment variables
collect_ignore = ["cases.py", "freeze.py", "differences.py"]
