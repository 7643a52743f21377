"""The Markdown page has the same content as the summary, and no name breaks a table."""

from fake_evaluations import CHOSEN, fake_evaluation

from unweave import evaluate
from unweave.report.markdown import markdown_page
from unweave.report.summary import summarise

ABOVE_NOISE = [(*entry[:3], (*entry[3][:3], 0.005), *entry[4:]) for entry in CHOSEN]


def table_after(text, heading):
    lines = text.split(heading, 1)[1].strip().splitlines()
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").replace("\\|", "¦").split("|")])
    return table


def test_verdict_table_has_what_the_summary_has():
    summary = summarise(fake_evaluation())
    head, _, *rows = table_after(markdown_page(fake_evaluation()), "## Verdicts")
    assert head == ["metric", "score", "noise", "interval", "calibrated", "p", "verdict", "why"]
    assert rows[4][:7] == ["mig", "0.041", "0.033", "0.010 to 0.080", "0.008", "0.310", "noise level"]
    assert rows[4][7] == "These codes score like random codes: 0.04, and random codes score 0.03 (p = 0.31)."
    *_, doubted, _ = table_after(markdown_page(fake_evaluation(chosen=ABOVE_NOISE)), "## Verdicts")
    assert doubted[:7] == ["mig", "0.041", "0.033", "0.010 to 0.080", "0.008", "≤ 0.005", "do not use"]
    assert [row[0].replace("\\", "") for row in rows] == [metric["label"] for metric in summary["metrics"]]


def test_representations_stand_side_by_side():
    head, _, *rows = table_after(fake_evaluation(("a", "b")).to_markdown(), "## Verdicts")
    assert head == ["metric", "a", "b"]
    assert rows[0] == ["mcc", "0.871 caution", "0.851 caution"]


def test_names_with_bars_and_stars_keep_their_cells():
    factors = {"a|b": [float(i % 7) for i in range(60)], "*c*": [float(i % 5) for i in range(60)]}
    text = evaluate(factors, [[float(i % 7), float(i % 5)] for i in range(60)], metrics=["mcc"]).to_markdown()
    head, rule, *_ = table_after(text, "(mcc)")
    assert head == ["code", "a¦b", "\\*c\\*"]
    assert len(rule) == 3
