"""Matrices among the parts of scores that reports display, each with a description of its cells."""

from __future__ import annotations

from unweave.score import ShownMatrix

CORRELATION = ShownMatrix("correlation_matrix", "Absolute correlation of every code with every factor")
IMPORTANCE = ShownMatrix("importance_matrix", "Importance of every code for the probe of every factor")
MUTUAL_INFORMATION = ShownMatrix(
    "mutual_information_matrix", "Mutual information of every code with every factor, in nats"
)
NORMALISED_INFORMATION = ShownMatrix(
    "normalised_information_matrix", "Mutual information relative to the factor's entropy; negative estimates are 0"
)
RELATIVE_INFORMATION = ShownMatrix("relative_information_matrix", "Mutual information relative to the factor's entropy")
PREDICTABILITY = ShownMatrix("predictability_matrix", "How well every code alone predicts every factor")
ROBUSTNESS = ShownMatrix("robustness_matrix", "How little every code changes while a factor is held fixed")
VOTES = ShownMatrix("vote_matrix", "How often a code won the vote for the batches of a factor")
MINIMALITY = ShownMatrix("minimality_matrix", "Share of a code's information that is about one factor")
SUFFICIENCY = ShownMatrix("sufficiency_matrix", "Share of a factor's entropy that one code carries")
BOUND = ShownMatrix("bound_matrix", "The bound for every code and factor")
PURITY = ShownMatrix("purity_matrix", "Share of a code's variance that is due to one factor alone")
CHOSEN = ShownMatrix("chosen_matrix", "Codes from which a factor is predicted")
JOINT_ENTROPY = ShownMatrix("joint_entropy_matrix", "Joint entropy of every code and factor, in nats", framed=False)
P_VALUE = ShownMatrix(
    "p_value_matrix", "p-value of the test that a code does not depend on a factor given the others", framed=False
)
ADJACENCY = ShownMatrix("adjacency_matrix", "Which codes depend on which factors, by the test", framed=False)
HYPOTHESIS = ShownMatrix("hypothesis_matrix", "Which codes should depend on which factors", framed=False)
THREE_WAY = ShownMatrix(
    "three_way_matrix", "Information about the samples that two codes both carry", columns="codes", framed=False
)
MISJED = ShownMatrix(
    "misjed_matrix", "Entropies of two codes minus the joint entropy of their means", columns="codes", framed=False
)
