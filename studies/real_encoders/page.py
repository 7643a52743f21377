"""The page of README: MiniLM on template sentences, with its principal and independent components.

python -m studies.real_encoders.page report.html
"""

import sys

import numpy as np
from sklearn.decomposition import PCA, FastICA

import unweave

from .encoders import minilm
from .sources import SENTENCES, Source, sentences

N_ROWS, N_COMPONENTS, SEED = 1200, 24, 2030


def main(path):
    """Encode the sentences, compare the three representations and write the page."""
    source = Source("sentences", SENTENCES, sentences, noisy=True)
    values, texts = source.sample(N_ROWS, "independent", np.random.default_rng(SEED))
    codes = minilm(twin=False)(texts)[1]
    independent = FastICA(N_COMPONENTS, random_state=0, max_iter=1000, whiten="unit-variance")
    compared = unweave.compare(
        {factor.name: column for factor, column in zip(SENTENCES, values.T, strict=True)},
        {
            "MiniLM": codes,
            f"{N_COMPONENTS} principal components": PCA(N_COMPONENTS, random_state=0).fit_transform(codes),
            f"{N_COMPONENTS} independent components": independent.fit_transform(codes),
        },
        kinds={factor.name: "categorical" if factor.kind == "class" else "continuous" for factor in SENTENCES},
        budget=60,
    )
    compared.to_html(path)


if __name__ == "__main__":
    main(sys.argv[1])
