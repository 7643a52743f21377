"""The questions that a person has about a representation, and the panel: the few metrics that answer them by default.

docs/panel.md explains how the panel was chosen from the results of the audit (docs/audit.md). Its version changes
whenever the panel changes.
"""

from __future__ import annotations

from dataclasses import dataclass

PANEL_VERSION = 1


@dataclass(frozen=True)
class Question:
    """A question and the metrics that answer it.

    ``short`` is the question for narrow tables. ``measures`` lists the values of `Card.measures` that belong to it.
    ``panel`` names its metrics in the panel in order of preference: the first one that may be trusted gives the answer.

    >>> QUESTIONS[0].text
    'Is every factor in a code of its own?'
    """

    name: str
    text: str
    short: str
    measures: tuple[str, ...]
    panel: tuple[str, ...] = ()


QUESTIONS = (
    Question(
        "recovery",
        "Is every factor in a code of its own?",
        "Own code for each factor?",
        ("one-to-one recovery",),
        ("identification", "mcc"),
    ),
    Question(
        "explicitness",
        "Can the factors be read out of the codes?",
        "Are the factors readable?",
        ("explicitness",),
        ("r2", "dci_informativeness"),
    ),
    Question(
        "modularity",
        "Does each code carry one factor only?",
        "One factor per code?",
        ("modularity", "modularity and explicitness"),
        ("dci_disentanglement", "minimality"),
    ),
    Question(
        "compactness",
        "Is each factor in one code only?",
        "One code per factor?",
        ("compactness", "compactness and explicitness"),
        ("dci_completeness", "mig", "rmig"),
    ),
    Question(
        "other content",
        "Is anything else in the codes?",
        "Anything else in codes?",
        ("invariance to nuisances", "informativeness", "size"),
        ("nuisances_invariance",),
    ),
    Question("independence", "Are the codes independent of each other?", "Independent codes?", ("independence",)),
    Question(
        "decoder",
        "What do the latents do to the data?",
        "What do the latents do?",
        (
            "entropy of the generated data",
            "importance of latents",
            "orthogonality of latents",
            "agreement of two decoders",
        ),
        ("manifold_entropy", "manifold_total_correlation"),
    ),
)
OTHER = Question("other", "Other metrics", "Other metrics", ())
PANEL = tuple(name for question in QUESTIONS for name in question.panel)


def question_of(measures: str) -> Question:
    """The question that a metric answers, by `Card.measures`.

    >>> question_of("compactness").name, question_of("beauty").name
    ('compactness', 'other')
    """
    return next((question for question in QUESTIONS if measures in question.measures), OTHER)
