"""Closed forms: exact scores of metrics for known worlds and encoders. Information is in nats."""

from unweave.synthetic.theory.correlated_mixing import least_mcc_of_mixed_pair, mcc_of_linear_map, mcc_of_mixed_pair
from unweave.synthetic.theory.distributed_codes import mcc_of_distributed
from unweave.synthetic.theory.dropped_and_copied import (
    dci_completeness_of_copies,
    dci_completeness_of_dropped,
    dci_disentanglement_of_constraint,
    dci_disentanglement_of_dropped,
    r2_of_dropped,
)
from unweave.synthetic.theory.null_correlation import NullMcc
from unweave.synthetic.theory.toy_model import Attack, ToyModel

__all__ = [
    "Attack",
    "NullMcc",
    "ToyModel",
    "dci_completeness_of_copies",
    "dci_completeness_of_dropped",
    "dci_disentanglement_of_constraint",
    "dci_disentanglement_of_dropped",
    "least_mcc_of_mixed_pair",
    "mcc_of_distributed",
    "mcc_of_linear_map",
    "mcc_of_mixed_pair",
    "r2_of_dropped",
]
