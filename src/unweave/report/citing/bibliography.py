"""BibTeX for what the cards cite: only what is known for sure, and no field that is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NEURIPS = "Advances in Neural Information Processing Systems"
ICLR = "International Conference on Learning Representations"
ICML = "International Conference on Machine Learning"
AISTATS = "International Conference on Artificial Intelligence and Statistics"


@dataclass(frozen=True)
class Entry:
    """One work; ``cited_as`` is a part of its title as the cards write it, in lower case."""

    key: str
    kind: str
    cited_as: str
    in_text: str
    fields: tuple[tuple[str, str], ...]

    @property
    def bibtex(self) -> str:
        """The entry as a .bib file holds it.

        >>> print(next(entry for entry in BIBLIOGRAPHY if entry.key == "kim2018disentangling").bibtex)
        @inproceedings{kim2018disentangling,
          author = {Kim, Hyunjik and Mnih, Andriy},
          title = {Disentangling by Factorising},
          booktitle = {International Conference on Machine Learning},
          year = {2018},
        }
        """
        return "\n".join(
            [f"@{self.kind}{{{self.key},", *(f"  {name} = {{{text}}}," for name, text in self.fields), "}"]
        )


def _paper(key: str, cited_as: str, in_text: str, author: str, title: str, venue: str, year: str) -> Entry:
    fields = (("author", author), ("title", title), ("booktitle", venue), ("year", year))
    return Entry(key, "inproceedings", cited_as, in_text, fields)


def _preprint(key: str, cited_as: str, in_text: str, author: str, title: str, arxiv: str, year: str) -> Entry:
    fields = (("author", author), ("title", title), ("eprint", arxiv), ("archiveprefix", "arXiv"), ("year", year))
    return Entry(key, "misc", cited_as, in_text, fields)


BIBLIOGRAPHY = (
    _paper(
        "hyvarinen2016unsupervised",
        "time-contrastive learning",
        "Hyvärinen and Morioka, 2016",
        r"Hyv{\"a}rinen, Aapo and Morioka, Hiroshi",
        "Unsupervised Feature Extraction by Time-Contrastive Learning and Nonlinear {ICA}",
        NEURIPS,
        "2016",
    ),
    _paper(
        "khemakhem2020variational",
        "variational autoencoders and nonlinear ica",
        "Khemakhem et al., 2020",
        r"Khemakhem, Ilyes and Kingma, Diederik and Monti, Ricardo and Hyv{\"a}rinen, Aapo",
        "Variational Autoencoders and Nonlinear {ICA}: A Unifying Framework",
        AISTATS,
        "2020",
    ),
    Entry(
        "joshi_guardians",
        "misc",
        "who guards the guardians",
        "Joshi et al.",
        (
            (
                "author",
                r"Joshi, Shruti and Saulus, Th{\'e}o and Brendel, Wieland and Brouillard, Philippe and "
                "Sridhar, Dhanya and Reizinger, Patrik",
            ),
            (
                "title",
                "Who Guards the Guardians? The Challenges of Evaluating Identifiability of Learned Representations",
            ),
        ),
    ),
    _paper(
        "eastwood2018framework",
        "quantitative evaluation of disentangled representations",
        "Eastwood and Williams, 2018",
        "Eastwood, Cian and Williams, Christopher K. I.",
        "A Framework for the Quantitative Evaluation of Disentangled Representations",
        ICLR,
        "2018",
    ),
    _preprint(
        "eastwood2023dcies",
        "dci-es",
        "Eastwood et al., 2023",
        r"Eastwood, Cian and Nicolicioiu, Andrei Liviu and von K{\"u}gelgen, Julius and Keki{\'c}, Armin and "
        r"Tr{\"a}uble, Frederik and Dittadi, Andrea and Sch{\"o}lkopf, Bernhard",
        "{DCI-ES}: An Extended Disentanglement Framework with Connections to Identifiability",
        "2210.00364",
        "2023",
    ),
    _paper(
        "kumar2018variational",
        "variational inference of disentangled latent concepts",
        "Kumar et al., 2018",
        "Kumar, Abhishek and Sattigeri, Prasanna and Balakrishnan, Avinash",
        "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations",
        ICLR,
        "2018",
    ),
    _paper(
        "ridgeway2018learning",
        "f-statistic loss",
        "Ridgeway and Mozer, 2018",
        "Ridgeway, Karl and Mozer, Michael C.",
        "Learning Deep Disentangled Embeddings with the {F}-Statistic Loss",
        NEURIPS,
        "2018",
    ),
    _paper(
        "chen2018isolating",
        "isolating sources of disentanglement",
        "Chen et al., 2018",
        "Chen, Ricky T. Q. and Li, Xuechen and Grosse, Roger B. and Duvenaud, David K.",
        "Isolating Sources of Disentanglement in Variational Autoencoders",
        NEURIPS,
        "2018",
    ),
    _preprint(
        "yao2025third",
        "the third pillar of causal analysis",
        "Yao et al., 2025",
        "Yao, Dingling and Huang, Shimeng and Cadei, Riccardo and Zhang, Kun and Locatello, Francesco",
        "The Third Pillar of Causal Analysis? A Measurement Perspective on Causal Representations",
        "2505.17708",
        "2025",
    ),
    Entry(
        "shah2020hardness",
        "article",
        "hardness of conditional independence testing",
        "Shah and Peters, 2020",
        (
            ("author", "Shah, Rajen D. and Peters, Jonas"),
            (
                "title",
                "The Hardness of Conditional Independence Testing and the Generalised Covariance Measure",
            ),
            ("journal", "The Annals of Statistics"),
            ("eprint", "1804.07203"),
            ("archiveprefix", "arXiv"),
            ("year", "2020"),
        ),
    ),
    _paper(
        "higgins2017beta",
        "basic visual concepts",
        "Higgins et al., 2017",
        "Higgins, Irina and Matthey, Loic and Pal, Arka and Burgess, Christopher and Glorot, Xavier and "
        "Botvinick, Matthew and Mohamed, Shakir and Lerchner, Alexander",
        r"{$\beta$-VAE}: Learning Basic Visual Concepts with a Constrained Variational Framework",
        ICLR,
        "2017",
    ),
    _paper(
        "kim2018disentangling",
        "disentangling by factorising",
        "Kim and Mnih, 2018",
        "Kim, Hyunjik and Mnih, Andriy",
        "Disentangling by Factorising",
        ICML,
        "2018",
    ),
    _preprint(
        "kim2019relevance",
        "relevance factor vae",
        "Kim et al., 2019",
        "Kim, Minyoung and Wang, Yuting and Sahu, Pritish and Pavlovic, Vladimir",
        "Relevance Factor {VAE}: Learning and Identifying Disentangled Factors",
        "1902.01568",
        "2019",
    ),
    _paper(
        "suter2019robustly",
        "robustly disentangled causal mechanisms",
        "Suter et al., 2019",
        r"Suter, Raphael and Miladinovic, Djordje and Sch{\"o}lkopf, Bernhard and Bauer, Stefan",
        "Robustly Disentangled Causal Mechanisms: Validating Deep Representations for Interventional Robustness",
        ICML,
        "2019",
    ),
    _paper(
        "li2020progressive",
        "progressive learning and disentanglement",
        "Li et al., 2020",
        "Li, Zhiyuan and Murugkar, Jaideep Vitthal and Gyawali, Prashnna Kumar and Wang, Linwei",
        "Progressive Learning and Disentanglement of Hierarchical Representations",
        ICLR,
        "2020",
    ),
    _preprint(
        "sepliarskaia2019how",
        "how to not measure disentanglement",
        "Sepliarskaia et al., 2019",
        "Sepliarskaia, Anna and Kiseleva, Julia and de Rijke, Maarten",
        "How to Not Measure Disentanglement",
        "1910.05587",
        "2019",
    ),
    _paper(
        "hsu2023disentanglement",
        "disentanglement via latent quantization",
        "Hsu et al., 2023",
        "Hsu, Kyle and Dorrell, William and Whittington, James and Wu, Jiajun and Finn, Chelsea",
        "Disentanglement via Latent Quantization",
        NEURIPS,
        "2023",
    ),
    Entry(
        "rethinking_dependent",
        "misc",
        "rethinking disentanglement under dependent factors",
        "Rethinking Disentanglement under Dependent Factors of Variation",
        (("title", "Rethinking Disentanglement under Dependent Factors of Variation"),),
    ),
    _paper(
        "do2020theory",
        "theory and evaluation metrics for learning disentangled",
        "Do and Tran, 2020",
        "Do, Kien and Tran, Truyen",
        "Theory and Evaluation Metrics for Learning Disentangled Representations",
        ICLR,
        "2020",
    ),
    _paper(
        "tokui2022disentanglement",
        "disentanglement analysis with partial information decomposition",
        "Tokui and Sato, 2022",
        "Tokui, Seiya and Sato, Issei",
        "Disentanglement Analysis with Partial Information Decomposition",
        ICLR,
        "2022",
    ),
    Entry(
        "galperin2025analyzing",
        "misc",
        "manifold entropic metrics",
        "Galperin and Köthe, 2025",
        (
            ("author", r"Galperin, Daniel and K{\"o}the, Ullrich"),
            ("title", "Analyzing Generative Models by Manifold Entropic Metrics"),
            ("year", "2025"),
        ),
    ),
)


def cited(reference: str) -> list[Entry]:
    """Works that a card's reference names.

    >>> [entry.key for entry in cited("Kim and Mnih (2018), 'Disentangling by factorising'")]
    ['kim2018disentangling']
    """
    return [entry for entry in BIBLIOGRAPHY if entry.cited_as in reference.lower()]


def credited(reference: str) -> str:
    """Whose a metric is, as a text cites it.

    >>> credited("Kim and Mnih (2018), 'Disentangling by factorising'")
    'Kim and Mnih, 2018'
    >>> credited("ours, after Kim and Mnih (2018), 'Disentangling by factorising'")
    "unweave's own, after Kim and Mnih, 2018"
    """
    works = ", ".join(entry.in_text for entry in cited(reference))
    if not is_own(reference):
        return works
    return f"unweave's own, after {works}" if works else "unweave's own"


def is_own(reference: str) -> bool:
    """Whether a card says that the metric is the library's own."""
    return reference.startswith("ours")


def bibtex_of(references: Mapping[str, str], version: str) -> str:
    """Entries of all works that the references of these metrics name, each once, and of the library.

    The library's entry names the metrics that are its own.
    """
    entries = {entry.key: entry for reference in references.values() for entry in cited(reference)}
    own = {name: credited(reference) for name, reference in references.items() if is_own(reference)}
    notes = [f"{name} is {whose}".replace("_", r"\_") for name, whose in own.items()]
    fields = [("title", "unweave"), ("version", version), *([("note", "; ".join(notes))] if notes else [])]
    library = Entry("unweave", "software", "unweave", "unweave", tuple(fields))
    return "\n\n".join(entry.bibtex for entry in [*entries.values(), library])
