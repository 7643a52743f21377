"""The program on the page about means and samples runs, and prints the numbers of the table."""

import re
from pathlib import Path

PAGE = (Path(__file__).parent.parent / "docs" / "means-and-samples.md").read_text(encoding="utf-8")


def test_the_table_is_what_the_program_prints(capsys):
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], {})
    printed = re.findall(r"\d\.\d{3}", capsys.readouterr().out)
    rows = [line for line in PAGE.splitlines() if line.startswith(("| sharp", "| blurred", "| all but"))]
    written = [cell.strip() for row in rows for cell in row.strip("|").split("|")[1:]]
    assert [float(number) for number in printed] == [float(number) for number in written]
