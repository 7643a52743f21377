"""Codes as detectors of concepts: measures for sparse autoencoders.

Concepts are binary factors. Each function takes the concepts (n x d) and the codes (n x m, dense or sparse). It returns
scores for every concept, the code that each score belongs to, and the score of random codes.
"""

from unweave.metrics.concepts.code_usage import CodeUsage, code_usage
from unweave.metrics.concepts.concept_report import ConceptReport, concept_report
from unweave.metrics.concepts.dictionary_matching import DictionaryMatching, dictionary_matching
from unweave.metrics.concepts.k_sparse_probing import SparseProbes, k_sparse_probing
from unweave.metrics.concepts.screening import ScreenedCodes, screened_codes
from unweave.metrics.concepts.single_codes import SingleCodes, single_codes
from unweave.metrics.concepts.splitting import SplitConcepts, split_concepts

__all__ = [
    "CodeUsage",
    "ConceptReport",
    "DictionaryMatching",
    "ScreenedCodes",
    "SingleCodes",
    "SparseProbes",
    "SplitConcepts",
    "code_usage",
    "concept_report",
    "dictionary_matching",
    "k_sparse_probing",
    "screened_codes",
    "single_codes",
    "split_concepts",
]
