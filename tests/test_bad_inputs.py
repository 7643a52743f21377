"""Inputs that are not meant so, and words of the sentence that a person reads: an error, a warning, or the result.

The messages of all of these were read by a person; the words keep them from becoming raw or silent.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import unweave
from unweave import Posterior, metrics
from unweave.files.reading import read_decoder, read_files

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(200, 3))
C = Z @ RNG.normal(size=(3, 4))
MISSING = np.where(np.arange(600).reshape(200, 3) == 10, np.nan, Z)
INFINITE = np.where(np.arange(800).reshape(200, 4) == 22, np.inf, C)


class Model:
    """Not a model."""


def saved(name, array):
    np.save(name, array)
    return name


def percentages():
    rng = np.random.default_rng(0)
    size, hue, tilt = rng.normal(size=300), rng.uniform(size=300), rng.uniform(size=300)
    codes = np.column_stack([size**3, hue + 0.1 * rng.normal(size=300), tilt - hue, rng.normal(size=300)])
    return {"size": size, "humidity": [f"{round(100 * each)}%" for each in hue]}, codes


def written(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


PYTHON = {
    "no codes": (lambda: unweave.evaluate(Z), "pass codes too"),
    "codes None": (lambda: unweave.evaluate(Z, None, quick=True), "pass codes too"),
    "different rows": (lambda: unweave.evaluate(Z, C[:150], quick=True), "factors have 200 rows, codes have 150 rows"),
    "transposed codes": (lambda: unweave.evaluate(Z, C.T, quick=True), "pass codes.T"),
    "both transposed": (lambda: unweave.evaluate(Z.T, C.T, quick=True), "; pass factors.T and codes.T if"),
    "swapped": (
        lambda: unweave.evaluate(RNG.normal(size=(200, 30)), Z[:, :2], quick=True, metrics="mcc"),
        "warns: exchange the two",
    ),
    "nan factor": (lambda: unweave.evaluate(MISSING, C, quick=True), "'factor 1' (1); fill them in"),
    "inf code": (lambda: unweave.evaluate(Z, INFINITE, quick=True), "'code 2' is infinite in 1 row:"),
    "empty": (lambda: unweave.evaluate(np.empty((0, 3)), np.empty((0, 4)), quick=True), "factors have no rows"),
    "one row": (lambda: unweave.evaluate(Z[:1], C[:1], quick=True), "says: Next: No metric could be computed: ident"),
    "five rows": (lambda: unweave.evaluate(Z[:5], C[:5], quick=True), "says: Next: No metric could be computed: ident"),
    "no columns": (lambda: unweave.evaluate(np.empty((200, 0)), C, quick=True), "at least one factor"),
    "scalar": (lambda: unweave.evaluate(3.0, C, quick=True), "type float, which has no rows"),
    "string": (lambda: unweave.evaluate("factors.csv", "codes.csv", quick=True), "read the file first"),
    "complex": (
        lambda: unweave.evaluate(Z, C + 1j, quick=True),
        "The codes are complex (complex128): pass real numbers, such as np.column_stack([codes.real, codes.imag]).",
    ),
    "object mix": (lambda: unweave.evaluate(Z, np.array([[1, "a"]] * 200, dtype=object), quick=True), "contains text"),
    "text codes": (
        lambda: unweave.evaluate(Z, pd.DataFrame({"a": ["x"] * 200, "b": range(200)}), quick=True),
        "leave this column out",
    ),
    "codes of a diverged model": (
        lambda: unweave.evaluate(Z, np.full((200, 4), np.nan), missing="drop", quick=True),
        "All values of all codes are nan: the model may have diverged; look at its weights and loss.",
    ),
    "swapped with text": (
        lambda: unweave.evaluate(C, {"size": Z[:, 0], "shape": ["round", "square"] * 100}, quick=True),
        "Code 'shape' contains text: codes are numbers, so leave this column out, or swap the arguments if they are "
        "exchanged: evaluate(factors, codes).",
    ),
    "images as codes": (
        lambda: unweave.evaluate(Z, RNG.random((200, 8, 8)), metrics=["mcc", "r2"], quick=True),
        "warns: Codes of shape (200, 8, 8) are read as 8 blocks of 8 codes: for 64 single codes pass codes.reshape("
        "200, -1).",
    ),
    "blocks in the heading": (
        lambda: unweave.evaluate(Z, RNG.random((200, 7, 2)), metrics="mcc", quick=True),
        "says: factor 2 continuous), 7 blocks of 2 codes",
    ),
    "percentages as text": (
        lambda: unweave.Evidence({"humidity": [f"{k % 20 + 20}%" for k in range(200)]}),
        "warns: if they are amounts (percentages: table['humidity'].str.rstrip('%').astype(float)).",
    ),
    "percentages that no code tells apart": (
        lambda: unweave.evaluate(*percentages(), quick=True),
        "says: Of 2 factors, 1 has a code of its own: size; 1 is too weak to be sure: humidity. factor",
    ),
    "a list of batches": (
        lambda: unweave.evaluate(Z, [C[k : k + 20] for k in range(0, 200, 20)], metrics="mcc", quick=True),
        "The codes are read as 10 blocks of the same 20 rows, and the factors have 200 rows: if they are batches, pass "
        "np.concatenate(codes).",
    ),
    "numbers as text and an empty one": (
        lambda: unweave.evaluate(Z, {"a": [*map(str, C[:, 0])], "b": ["", *map(str, C[1:, 0])]}),
        "convert them with astype(float); 'b' has empty fields: write nan where a field is empty.",
    ),
    "a summary instead of an evaluation": (
        lambda: unweave.Evaluation.load(written("s.json", '{"schema": "unweave.report/3"}')),
        "s.json: This is the summary of a report, as --summary writes it: pass what --json or save wrote.",
    ),
    "constant factors": (
        lambda: unweave.evaluate(np.ones((200, 2)), C, quick=True),
        "says: could be computed: A score needs",
    ),
    "constant codes": (lambda: unweave.evaluate(Z, np.ones((200, 2)), quick=True), "says: No code varies"),
    "id column": (
        lambda: unweave.evaluate({"id": np.arange(200), "size": Z[:, 0]}, C, quick=True),
        "warns: counts the rows",
    ),
    "text id": (
        lambda: unweave.evaluate({"name": [f"img_{i}.png" for i in range(200)], "size": Z[:, 0]}, C, quick=True),
        "leave it out if it is an identifier",
    ),
    "one hot": (lambda: unweave.evaluate(np.eye(4)[RNG.integers(0, 4, 200)], C, quick=True), "warns: one-hot"),
    "ragged list": (
        lambda: unweave.evaluate([[1, 2], [3]], [[1, 2], [3, 4]], quick=True),
        "The rows of the factors have different lengths (row 0 has 2, row 1 has 1): pass",
    ),
    "dict of different lengths": (
        lambda: unweave.evaluate({"a": Z[:, 0], "b": Z[:100, 1]}, C, quick=True),
        "different lengths: 'a' has 200, 'b' has 100; give every column one",
    ),
    "metric misspelt": (lambda: unweave.evaluate(Z, C, metrics=["mmc"]), "did you mean 'mcc'"),
    "metrics by their full names": (
        lambda: unweave.evaluate(Z, C, metrics=["MCC", "mutual information gap", "Mean correlation coefficient"]),
        "There is no metric called 'mutual information gap': did you mean 'mig'? There is no metric called 'Mean "
        "correlation coefficient': did you mean 'mcc'?",
    ),
    "metric= argument": (lambda: unweave.evaluate(Z, C, metric="mcc"), "write metrics=['mcc']"),
    "metrics number": (lambda: unweave.evaluate(Z, C, metrics=3), "does not name metrics"),
    "metrics empty": (lambda: unweave.evaluate(Z, C, metrics=[]), "name at least one"),
    "metric class": (lambda: unweave.evaluate(Z, C, metrics=[np.mean]), "@unweave.metric"),
    "unknown option": (lambda: metrics.mig(Z, C, bins=20), "Histogram(bins=20)"),
    "wrong option type": (lambda: metrics.mcc(Z, C, correlation="kendal"), "'pearson', 'spearman' or 'rdc'"),
    "kinds unknown name": (
        lambda: unweave.evaluate(Z, C, kinds={"sise": "continuous"}, quick=True),
        "but the factors are 'factor 0'",
    ),
    "kinds unknown kind": (
        lambda: unweave.evaluate(Z, C, kinds={"factor 0": "numeric"}, quick=True),
        "use continuous, ordinal",
    ),
    "kinds list short": (
        lambda: unweave.evaluate(Z, C, kinds=["continuous"], quick=True),
        "kinds is a list of 1 for 3 factors: write kinds='continuous' for all of them, a list of 3, or a mapping",
    ),
    "negative budget": (lambda: unweave.evaluate(Z, C, budget=-1), "seconds from 0"),
    "level 95": (lambda: unweave.evaluate(Z, C, level=95, metrics="mcc"), "such as 0.95"),
    "n_seeds 0": (lambda: unweave.evaluate(Z, C, n_seeds=0, metrics="mcc"), "whole number from 1"),
    "seed text": (lambda: unweave.evaluate(Z, C, seed="a", metrics="mcc", quick=True), "whole number from 0"),
    "n_jobs 0": (lambda: unweave.evaluate(Z, C, n_jobs=0, metrics="mcc", quick=True), "-1 for all"),
    "missing fill": (lambda: unweave.evaluate(MISSING, C, missing="mean", quick=True), "use 'refuse' or 'drop'"),
    "all rows missing": (
        lambda: unweave.evaluate(np.full((200, 2), np.nan), C, missing="drop", quick=True),
        "(no row has factor 'factor 0', factor 'factor 1'), so dropping leaves none",
    ),
    "names short": (lambda: unweave.evaluate(Z, C, factor_names=["a", "b"], quick=True), "2 factor names for 3"),
    "names twice": (lambda: unweave.evaluate(Z, C, factor_names=["a", "a", "b"], quick=True), "called 'a'"),
    "row_groups short": (
        lambda: unweave.evaluate(Z, C, row_groups=[1, 2], quick=True),
        "row_groups has 2 entries for 200 rows: give one group label for each row",
    ),
    "posterior negative std": (lambda: Posterior(C, -np.ones_like(C)), "log_variance"),
    "posterior shapes": (lambda: Posterior(C, np.ones((200, 2))), "one spread for each mean"),
    "tuple": (lambda: unweave.evaluate(Z, (C, np.zeros_like(C)), quick=True, metrics="mcc"), "Posterior(mean"),
    "compare one array": (lambda: unweave.compare(Z, C, quick=True), "a mapping from names to codes"),
    "compare empty": (lambda: unweave.compare(Z, {}, quick=True), "a mapping from names to codes"),
    "compare different rows": (lambda: unweave.compare(Z, {"a": C, "b": C[:100]}, quick=True, metrics="mcc"), "In 'b'"),
    "compare list names": (
        lambda: unweave.compare(Z, [C, C], names=["a"], quick=True, metrics="mcc"),
        "one name for each",
    ),
    "compare path": (lambda: unweave.compare(Z, {"a": "a.npy"}, quick=True, metrics="mcc"), "read the file first"),
    "score of unknown label": (lambda: unweave.evaluate(Z, C, metrics="mcc", quick=True)["mig"], "there are mcc"),
    "score of unknown representation": (
        lambda: unweave.compare(Z, {"a": C, "b": C}, metrics="mcc", quick=True)["c"],
        "'c' is none of them",
    ),
    "ladder without": (lambda: unweave.evaluate(Z, C, metrics="mcc", quick=True).ladder, "computed with the panel"),
    "html into missing folder": (
        lambda: unweave.evaluate(Z, C, metrics="mcc", quick=True).to_html("missing/x/report.html"),
        "cannot be written",
    ),
    "html into folder": (lambda: unweave.evaluate(Z, C, metrics="mcc", quick=True).to_html("."), "Is a directory"),
    "load other json": (lambda: unweave.Evaluation.load(written("o.json", '{"a": 1}')), "not an evaluation"),
    "load text": (lambda: unweave.Evaluation.load(written("o.txt", "hello")), "not an evaluation"),
    "load missing": (lambda: unweave.Evaluation.load("nothing.json"), "name a file that Evaluation.save wrote"),
    "grouped missing": (
        lambda: unweave.compare(Z, {"a": C, "b": C}, metrics="mcc", quick=True).grouped({"a": "A"}),
        "'b' is in no group",
    ),
    "encode no factors": (
        lambda: unweave.encode(lambda x: x, np.zeros((10, 1, 8, 8)), np.zeros((9, 2))),
        "one row per image, a table of shape (10, number of codes)",
    ),
    "encode not a model": (
        lambda: unweave.encode(Model(), np.zeros((10, 1, 8, 8)), np.zeros((10, 2))),
        "pass a function of images",
    ),
    "encode returns scalar": (
        lambda: unweave.encode(lambda x: 3.0, np.zeros((10, 1, 8, 8)), np.zeros((10, 2))),
        "one row per image",
    ),
    "explain unknown": (lambda: unweave.explain("mcx"), "on the command line"),
    "unweave.scor": (lambda: unweave.scor, "or unweave.evaluate(factors, codes) to score codes"),
    "unweave.mcc": (lambda: unweave.mcc(Z, C), "unweave.metrics.mcc"),
    "levels alike": (
        lambda: unweave.evaluate({"shape": ["Round", "round "] * 100}, C, quick=True, metrics="r2"),
        "warns: 'Round' and 'round ', which differ in capitals or spaces only",
    ),
    "amounts as text": (
        lambda: unweave.evaluate({"humidity": [f"{k % 20 + 20}%" for k in range(200)]}, C, quick=True, metrics="r2"),
        "warns: text with 20 levels such as '20%', which count as classes without an order",
    ),
    "missing and identifier": (
        lambda: unweave.evaluate({"size": MISSING[:, 1], "file": [f"{i}.png" for i in range(200)]}, C, quick=True),
        "There are 2 problems: (1) Values are missing in 1 of 200 rows: factor 'size' (1); fill them in, or leave "
        "these rows out with missing='drop' (--missing drop on the command line). (2) Factor 'file' is categorical",
    ),
    "factors among the codes": (
        lambda: unweave.evaluate(
            {"size": Z[:, 0], "angle": Z[:, 1]},
            {"size": Z[:, 0], "angle": Z[:, 1], "z0": C[:, 0]},
            metrics="r2",
            quick=True,
        ),
        "warns: Codes 'size' and 'angle' equal the factors of the same name in every row: leave them out if they are "
        "the labels themselves (codes=table[['z0']]).",
    ),
    "a factor among the codes under another name": (
        lambda: unweave.evaluate(Z, np.column_stack([C, Z[:, 1]]), metrics="r2", quick=True),
        "warns: Code 'code 4' equals the factor 'factor 1' in every row: leave it out if it is the label itself "
        "(codes=table[['code 0', ...]]).",
    ),
    "no seeds": (
        lambda: unweave.compare(Z, {"a": C, "b": C}, metrics="mcc", quick=True).grouped(),
        "such as 'VAE seed 0' and 'VAE seed 1': pass the groups",
    ),
    "runs as one array": (lambda: unweave.unlabelled(C), "type ndarray has no runs: pass a mapping"),
    "decimal commas": (
        lambda: unweave.evaluate(Z, {"a": [f"{v:.3f}".replace(".", ",") for v in C[:, 0]]}, quick=True),
        "Code 'a' contains text, which are numbers with decimal commas, such as '-0,",
    ),
    "decimal commas of a factor": (
        lambda: unweave.Evidence({"size": [f"{k % 40 / 8}".replace(".", ",") for k in range(200)]}),
        "warns: is text with 40 levels, which are numbers with decimal commas, such as '0,0': write points.",
    ),
    "a text among numbers": (
        lambda: unweave.evaluate(Z, {"a": ["?", *map(str, C[1:, 0])]}, quick=True),
        "numbers apart from '?': correct such fields, or leave them empty where a value is missing",
    ),
    "numbers as text": (lambda: unweave.evaluate(Z, {"a": [*map(str, C[:, 0])]}), "convert them with astype(float)"),
    "metrics without a name": (
        lambda: unweave.evaluate(Z, C, "mcc"),
        "evaluate takes factors and codes without a name, and 3 were given: name the others, such as metrics=.",
    ),
    "diagnose two arrays": (lambda: unweave.diagnose(Z, C), "diagnose takes evidence without a name, and 2 were"),
    "metrics with spaces": (lambda: unweave.evaluate(Z, C, metrics=["mcc mig"]), "with commas and no spaces: mcc,mig"),
    "sparse factors": (lambda: unweave.evaluate(scipy.sparse.csr_matrix(Z), C), "pass factors.toarray()"),
    "an array of one value": (lambda: unweave.evaluate(Z, np.array(3.0)), "The codes are a single value without rows"),
    "a structured array": (
        lambda: unweave.evaluate(np.rec.fromarrays(Z.T, names="x,y,z"), C, quick=True, metrics="mcc"),
        "says: 3 factors (x continuous, y continuous, z continuous)",
    ),
    "images as a list": (
        lambda: unweave.encode(lambda x: x.reshape(len(x), -1), [np.zeros((8, 8), np.float32)] * 20),
        "a list of 20 arrays of shape (8, 8): pass np.stack(images) if each is one image",
    ),
    "images and factors as a pair": (
        lambda: unweave.encode(lambda x: x, (np.zeros((10, 1, 8, 8)), np.zeros((10, 2)))),
        "pass encode(model, images, factors), each on its own",
    ),
    "encode with a path": (lambda: unweave.encode("model.pt", np.zeros((10, 1, 8, 8))), "load the model, and pass the"),
    "encode a name": (lambda: unweave.encode(lambda x: x, "small_sprites"), "unweave.datasets.load('small_sprites')"),
    "codes as a decoder": (
        lambda: read_decoder(saved("c.npy", C)),
        "warns: c.npy is read as one Jacobian of 200 outputs and 4 latents: if it has codes, pass the decoder as",
    ),
    "Jacobians with swapped axes": (
        lambda: unweave.spectrum(RNG.normal(size=(50, 5, 64))),
        "warns: The Jacobians have 5 outputs and 64 latents, so total entropy and total correlation are undefined: "
        "pass samples x outputs x latents, J.transpose(0, 2, 1)",
    ),
    "plot unknown": (lambda: unweave.evaluate(Z, C, metrics="mcc", quick=True).plot("bar"), "choose one of scores"),
    "to_frame backend": (
        lambda: unweave.evaluate(Z, C, metrics="mcc", quick=True).to_frame("spark"),
        "'pandas', 'polars'",
    ),
}
OTHER = ("t.csv.gz", "t.tsv", "t.pkl", "json.csv")
COMMANDS = {
    "score nothing.npz": "There is no file nothing.npz",
    "score odd.npz": "no array 'factors' but 'x', 'y'",
    "score fake.npz": "not a complete .npz file",
    "score page.npz": "page.npz is not a .npz file: it begins with '<!DOCTYPE html>', so it may be a failed download",
    "report package.json --html x.html": "package.json: This is not an evaluation in JSON: pass what to_json or save "
    "wrote (score --json).",
    "score x.xlsx": "unsupported format (.xlsx)",
    "score empty.csv": "it is empty",
    "score head.csv --factors size": "The factors have no rows",
    "score t.csv": "name the factors with --factors A,B",
    "score t.csv --factors sise": "no column 'sise' but 'size', 'hue', 'c0'",
    "score t.csv --factors size,hue,c0": "--factors names all columns",
    "score t.csv --factors size --codes emb_*": "No name in t.csv fits 'emb_*'",
    "score semi.csv --factors size": "separated by semicolons",
    "score ok.npz --metrics mmc": "did you mean 'mcc'?",
    "score ok.npz --kinds a=continuous": "the factors are 'factor 0', 'factor 1'",
    "score ok.npz --html missing/r.html": "there is no folder missing",
    "score ok.npz --budget -3": "not in the range",
    "score ok.npz --metric mcc": "Did you mean '--metrics'?",
    "score a.npy": "pass two files",
    "score t.csv.gz": ".h5 or .zarr (unpack it first)",
    "score t.tsv": "save it as .csv with commas between columns",
    "score t.pkl": "a pickle can run code, so save its table with to_csv",
    "score json.csv --factors size": "json.csv contains JSON and no columns: read it, and save a table with to_csv",
    "score latin.csv --factors size": "(it is not utf-8, which is the encoding to use): check the file",
    "score t.csv --factors Size": "did you mean 'size'?",
    "score t.csv --factors size;hue": "separate names by commas alone, as in size,hue",
    "score ok.npz --metrics mcc;mig": "There is no metric called 'mcc;mig'",
    "score ok.npz --html r.pdf": "r.pdf would be a page of HTML: name it .html, and print it from a browser",
    "score weights.npz": "these are the weights of a model, so encode samples with it first",
    "compare a.npy b.npy": "(compare and probe: --factors-from FILE)",
    "encode ok.npz nothing:here --out c.npz": "nothing:here is no data set: the model comes first",
    "compare ok.npz ok.npz": "A file is named twice",
    "compare labels.npz odd.npz --codes x": "if the first has only the factors, pass --factors-from labels.npz",
    "probe ok.npz --layers conv1,conv2": "ok.npz has no arrays 'conv1' and 'conv2' but 'factors', 'codes': name "
    "existing ones with --layers.",
    "explain mutual_information_gap": "There is no metric called 'mutual_information_gap': did you mean 'mig'?",
    "explain mmc": "did you mean 'mcc'?",
    "report ok.npz --html r.html": "name a file that Evaluation.save wrote",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", PYTHON)
def test_python_says_what_is_wrong(folder, name):
    call, words = PYTHON[name]
    how, _, rest = words.partition(": ") if words.startswith(("warns: ", "says: ")) else ("fails", "", words)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if how == "fails":
            with pytest.raises((unweave.UnweaveError, AttributeError)) as caught:
                call()
            said = str(caught.value)
        else:
            said = str(call())
    if how == "warns":
        said = " ".join(str(each.message) for each in warned)
    assert rest in " ".join(said.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_say_what_is_wrong(folder, command):
    from click.testing import CliRunner

    from unweave.cli import main

    table = Z[:, :2]
    np.savez("ok.npz", factors=table, codes=table)
    np.savez("odd.npz", x=table, y=table)
    np.savez("labels.npz", factors=table)
    np.savez("weights.npz", **{"0.weight": table, "0.bias": table[0]})
    np.save("a.npy", table)
    np.save("b.npy", table)
    pd.DataFrame({"size": table[:, 0], "hue": table[:, 1], "c0": table.sum(axis=1)}).to_csv("t.csv", index=False)
    written("semi.csv", Path("t.csv").read_text(encoding="utf-8").replace(",", ";"))
    for name, text in {
        "empty.csv": "",
        "head.csv": "size,hue,c0\n",
        "fake.npz": "hello",
        "page.npz": "<!DOCTYPE html>\n<html><body>404</body></html>",
        "package.json": "{}",
        "x.xlsx": "PK",
        **dict.fromkeys(OTHER, "{"),
    }.items():
        written(name, text)
    Path("latin.csv").write_bytes("größe,size\n1,2\n".encode("latin-1"))
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == 2
    assert COMMANDS[command] in " ".join(result.output.split())


def test_dates_as_text_are_days_and_words_of_spreadsheets_are_missing(folder):
    days = pd.Series(pd.date_range("2024-01-01", periods=200, freq="D").strftime("%Y-%m-%d %H:%M"))
    with pytest.warns(unweave.InputWarning, match="has dates: they became days since 2024-01-01"):
        assert unweave.Evidence({"recorded": days}, C).factors[:3, 0].tolist() == [0.0, 1.0, 2.0]
    written("a.csv", "factor a,code b\n1,1\nn/a,2\nNone,3\n4,4\n")
    found = read_files("a.csv")
    assert np.isnan(found.factors["factor a"]).tolist() == [False, True, True, False]


def test_a_decoder_without_forward_and_a_function_that_makes_one(folder, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(folder))
    written(
        "made_flow.py",
        "import torch\nclass Flow(torch.nn.Module):\n"
        "    latent_size = 2\n    def generate(self, z):\n        return z\n"
        "def load():\n    return Flow()\n"
        "def whole():\n    from unweave.neural.decoders import TorchDecoder\n"
        "    return TorchDecoder(Flow().generate, latent_size=2)\n",
    )
    with pytest.raises(unweave.InputError, match="no method forward: pass its method from latents to data"):
        unweave.spectrum(read_decoder("made_flow:load"))
    found = unweave.spectrum(read_decoder("made_flow:whole"))
    assert repr(found) == "Spectrum(2 latents, entropies 1.42 to 1.42 nats)"
    assert isinstance(read_decoder("made_flow:load"), torch.nn.Module)


def test_a_table_for_a_paper_from_the_command_line(folder):
    from click.testing import CliRunner

    from unweave.cli import main

    for name in ("vae_seed0", "vae_seed1", "ours_seed0", "ours_seed1"):
        np.savez(f"{name}.npz", factors=Z, codes=Z + 0.1 * RNG.normal(size=Z.shape))
    names = ["vae_seed0.npz", "vae_seed1.npz", "ours_seed0.npz", "ours_seed1.npz"]
    words = ["--metrics", "mcc", "--quick", "--latex", "table.tex"]
    result = CliRunner().invoke(main, ["compare", *names, *words])
    assert result.exit_code == 0, result.output
    table = Path("table.tex").read_text(encoding="utf-8")
    assert "over 2 seeds" in table
    assert [line.partition(" &")[0] for line in table.splitlines() if "+-" in line] in (
        ["vae", "ours"],
        ["ours", "vae"],
    )
    CliRunner().invoke(main, ["compare", *names[1:3], *words])
    assert "because the differences were not tested" in Path("table.tex").read_text(encoding="utf-8")


def test_constant_codes_are_not_taken_for_factors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", unweave.InputWarning)
        unweave.Evidence(Z, np.ones((200, 2)))
