"""Integrations with scikit-learn, torchmetrics, Lightning, experiment trackers and model cards.

Every module is a thin layer over `unweave.evaluate` and needs only the package it is named after, which is an extra of
the same name: ``pip install "unweave[lightning]"``. Modules are imported when they are first used.

>>> from unweave.integrations.sklearn import scorer
>>> scorer("mcc")
scorer('mcc')
"""

from typing import TYPE_CHECKING

from unweave.on_demand import on_demand

if TYPE_CHECKING:
    from unweave.integrations import huggingface, lightning, monitor, sklearn, torchmetrics, trackers
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            name: f"{__name__}.{name}"
            for name in ("huggingface", "lightning", "monitor", "sklearn", "torchmetrics", "trackers")
        },
    )

__all__ = ["huggingface", "lightning", "monitor", "sklearn", "torchmetrics", "trackers"]
