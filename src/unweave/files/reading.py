"""Factors, codes and decoders from files."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from unweave.errors import FileError, InputError, OptionError, UnweaveError, note
from unweave.evidence import Decoder, Jacobians, Posterior
from unweave.evidence.archives import is_store
from unweave.evidence.columns import plain, read_table
from unweave.files.formats import Opened, is_large_folder, opened, parquet_blocks, shown
from unweave.own_modules import imported

STD = "codes_std"
CATEGORY = "codes_category "  # followed by the name of a categorical code
NAMES, KINDS, CODE_NAMES = "factor_names", "factor_kinds", "code_names"
ANY_NAMES = ("names", "columns", "label_names")  # arrays that name columns if there are as many of these
ABOUT = {STD, NAMES, KINDS, CODE_NAMES, "indices", "note"}  # arrays that `unweave encode` writes beside the codes
Role = Literal["factors", "codes"]
EPISODE = "episode_index"  # column of robot data sets whose rows stay together unless others are named
APART = "=*"  # after the name of a factor: each of its levels is a factor
PREFIX: dict[Role, str] = {"factors": "factor", "codes": "code"}


@dataclass(frozen=True)
class Files:
    """Content of the files: tables for `Evidence`, and other columns, kinds of factors and names of codes if any."""

    factors: Any
    codes: Any
    row_groups: Any = None
    target: Any = None
    environments: Any = None
    nuisances: Any = None
    kinds: list[str] | None = None
    code_names: list[str] | None = None


def read_files(
    path: str | Path,
    codes_path: str | Path | None = None,
    *,
    factors: Sequence[str] = (),
    codes: Sequence[str] = (),
    codes_std: str | None = None,
    row_groups: str | None = None,
    target: str | None = None,
    environments: str | None = None,
    nuisances: Sequence[str] = (),
    in_blocks: bool = False,
    cluster: str | None = None,
) -> Files:
    """Factors and codes from one file that contains both, or from one file each.

    In a .csv file, an empty field, NA, n/a, NaN, None and null are missing values, as for pandas. A column without a
    name, such as the index that pandas writes, is left out.

    Parameters
    ----------
    path : path
        File with factors and codes, or with the factors if ``codes_path`` is given.
    codes_path : path, optional
        File with the codes.
    factors, codes : names, optional
        Arrays of an .npz ('factors' and 'codes' by default), 'obs:NAME' and 'obsm:NAME' of an .h5ad, or columns of a
        table, also as patterns ('emb_*') and ranges ('emb_0..emb_63'). 'cell_type=NK' is the level NK against all
        others, and 'cell_type=*' is one such factor for each level. By default, columns are those whose names begin
        with 'factor' and 'code'; if only the factors are named, all other columns are codes). A file with factors only
        or codes only may contain one array of any name, or columns of any names.
    codes_std : name, optional
        Array of an .npz with the standard deviations of a posterior whose means are the codes; by default 'codes_std',
        if the file has this array.
    row_groups : name, optional
        Array or column with the subject or video of each row, in either file; 'episode_index' of a folder that has it.
    target, environments : name, optional
        Array or column with the label of the task, and with the intervention of each row, in either file.
    nuisances : names, optional
        Arrays or columns, in either file, of what the codes should not depend on; named as factors are.
    in_blocks : bool
        Whether to return `RowBlocks` for a folder of Parquet files that is too large for memory.
    cluster : str, optional
        Address of a Dask scheduler whose workers read the folder.
    """
    both = set(factors) & set(codes) if codes_path is None else set()
    if both:
        raise OptionError(f"{min(both)!r} is named as a factor and as a code: name it once.")
    folder = codes_path is None and os.path.isdir(path) and not is_store(path)
    if cluster is not None and not folder:
        raise OptionError(f"A cluster reads folders of Parquet files, and {path} is not one: leave --cluster out.")
    if (
        folder
        and row_groups is None
        and not nuisances
        and (cluster is not None or (in_blocks and is_large_folder(path)))
    ):
        return Files(parquet_blocks(path, factors=factors, codes=codes, cluster=cluster), None)
    besides = {"row_groups": row_groups, "target": target, "environments": environments}
    first = opened(path)
    second = first if codes_path is None else opened(codes_path)
    unwanted, nuisance_table = _nuisances(nuisances, first, second)
    aside = (*filter(None, besides.values()), *unwanted)
    if row_groups is None and folder and EPISODE in first.names and EPISODE not in (*factors, *codes):
        besides["row_groups"], aside = EPISODE, (*aside, EPISODE)
    factors, apart = _to_take_apart(first, factors)
    factors, codes = first.chosen(factors), second.chosen(codes)
    factor_names, code_names = list(factors), list(codes)
    if codes_path is None:
        named = [*dict.fromkeys([*factors, *codes, *aside])]
        if named:
            first.check(named)  # one error for all
        factor_names, code_names = _both_sides(first, factor_names, code_names, aside)
        _say_what_codes_are(first, factors, codes, code_names)
        factor_table, code_table = first.table(factor_names), first.table(code_names)
    else:
        factor_table = _one_side(first, "factors", factor_names, aside)
        code_table = _one_side(second, "codes", code_names, aside)
    names = _column_names(first, NAMES, factor_table, factors)
    code_words = _column_names(second, CODE_NAMES, code_table, codes, taken=names)
    files = list({first.path: first, second.path: second}.values())
    _say_what_is_unused(files, [*factors, *codes], *aside, codes_std, "factors", "codes", names, code_words)
    return Files(
        _levels_apart(_named_factors(first, factor_table, names), factor_names, apart),
        _with_std(second, code_table, codes, codes_std),
        nuisances=nuisance_table,
        kinds=_words(first, KINDS, factors),
        code_names=code_words,
        **_besides(besides, *files),
    )


def read_codes(path: str | Path, codes: Sequence[str] = (), codes_std: str | None = None) -> Any:
    """The codes of a file, or a posterior if it contains their standard deviations; factors in it are ignored."""
    file = opened(path)
    codes = file.chosen(codes)
    return _with_std(file, _one_side(file, "codes", codes, ()), codes, codes_std)


def refuse_different_factors(factors: Mapping[str, Any]) -> None:
    """Raise an error if the factors of the files differ in names, levels, values or order of the samples."""
    tables = {path: read_table(table, "factor") for path, table in factors.items()}
    (first_path, first), *others = tables.items()
    for path, other in others:
        named_alike = (other.names, other.levels) == (first.names, first.levels)
        if not (named_alike and np.array_equal(other.values, first.values, equal_nan=True)):
            raise FileError(
                f"{path} and {first_path} have different factors: compare representations of the same samples, "
                "in the same order."
            )


def _both_sides(
    file: Opened, factors: list[str], codes: list[str], aside: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Names of the factors and of the codes in a file that contains both."""
    if file.is_one_array:
        raise FileError(
            f"{file.path} contains one array: pass two files, the factors and then the codes (compare and probe: "
            "--factors-from FILE)."
        )
    if file.is_archive:
        if file.path.suffix.lower() == ".h5ad" and not (factors and codes):
            raise FileError(
                f"{file.path} does not say what are factors and codes ({shown(file.names)}): name both, such as "
                "--factors obs:cell_type --codes obsm:X_pca."
            )
        return factors or ["factors"], codes or ["codes"]
    names = [name for name in file.names if name not in aside]
    factor_names = factors or _beginning_with(PREFIX["factors"], names)
    named = set(factor_names)
    rest = [name for name in names if name not in named] if factors else names
    code_names = codes or (rest if factors else _beginning_with(PREFIX["codes"], rest))
    if factors and not code_names:
        raise FileError(f"--factors names all columns of {file.path}: name fewer, so that some are left for the codes.")
    if not (factor_names and code_names):
        raise FileError(
            f"{file.path} does not say which of its columns are factors and which are codes ({shown(names)}): "
            "name the factors with --factors A,B, or begin the names with 'factor' and 'code'."
        )
    return factor_names, code_names


def _say_what_codes_are(file: Opened, factors: list[str], codes: list[str], code_names: list[str]) -> None:
    """A note on codes that nobody named: all columns of a table that are no factors."""
    if factors and not codes and not file.is_archive:
        note(
            f"The codes are the other columns of {file.path}, {shown(code_names)}: name them (--codes) if not all are."
        )


def _one_side(file: Opened, role: Role, stated: list[str], aside: Sequence[str]) -> Any:
    """The table of factors or of codes in a file that contains either or both."""
    if stated:
        return file.table(stated)
    if file.is_one_array:
        return file.content
    names = [name for name in file.names if name not in (*aside, STD, NAMES, KINDS, CODE_NAMES)]
    names = [name for name in names if not (name in ANY_NAMES and _shape_of_texts(file, name))]
    if file.is_archive:
        return file.table([names[0] if len(names) == 1 else role])
    # if there are columns of the other role, only columns with the prefix of this role are used
    other = PREFIX["codes" if role == "factors" else "factors"]
    return file.table(_beginning_with(PREFIX[role], names) if _beginning_with(other, names) else names)


def _with_std(file: Opened, codes: Any, code_names: Sequence[str], stated: str | None) -> Any:
    """The codes, or a posterior if the file has their standard deviations."""
    name = STD if stated is None and not code_names and file.is_archive and STD in file.names else stated
    if name is None:
        return codes
    if not file.is_archive:
        raise FileError(
            f"{file.path} is not an .npz file, and standard deviations are only read from .npz files: save one with "
            "the codes."
        )
    tables = {word.removeprefix(CATEGORY): file.column(word) for word in file.names if word.startswith(CATEGORY)}
    return Posterior(codes, file.column(name), categories=tables or None)


def _named_factors(file: Opened, table: Any, names: Sequence[str] | None) -> Any:
    """Columns by the names of the factors, if an archive has names."""
    if names is None:
        return table
    columns = np.asarray(table)
    if columns.ndim != 2 or len(names) != columns.shape[1]:
        raise FileError(
            f"{file.path} has {len(names)} {NAMES} for factors of shape {columns.shape}: store one name per factor."
        )
    return dict(zip(names, columns.T, strict=True))


def _column_names(
    file: Opened, own: str, table: Any, stated: Sequence[str], taken: Sequence[str] | None = None
) -> list[str] | None:
    """Names of the columns in their own array, or in another one of as many texts as there are columns."""
    shape = getattr(table, "shape", ())[1:]
    fitting = (own, *(other for other in ANY_NAMES if shape and _shape_of_texts(file, other) == shape))
    found = (_words(file, name, stated) for name in fitting)
    return next((words for words in found if words is not None and words != taken), None)


def _shape_of_texts(file: Opened, name: str) -> tuple[int, ...] | None:
    """Shape of an array of texts in an archive; None if it has no such array."""
    array = plain(file.column(name)) if file.is_archive and name in file.names else np.zeros(0)
    return array.shape if array.dtype.kind in "USO" else None


def _say_what_is_unused(files: Sequence[Opened], stated: Sequence[str], *used: Any) -> None:
    """A note on arrays beside the factors and codes that play no part, so that nobody believes that they do."""
    for file in files:
        rest = [name for name in file.names if name not in (*used, *ABOUT) and not name.startswith(CATEGORY)]
        rest = [name for name in rest if name not in ANY_NAMES or _words(file, name, ()) not in used]
        if file.is_archive and rest and not stated and {"factors", "codes"} & set(file.names):
            note(
                f"{file.path} also has {shown(rest)}, which {'is' if len(rest) == 1 else 'are'} not used: name what "
                "belongs to the data with --factors, --codes, --row-groups, --factor-names or --code-names."
            )


def _words(file: Opened, array: str, stated: Sequence[str]) -> list[str] | None:
    """Names or kinds in an array of an .npz, if it has this array and no columns were named."""
    if stated or not file.is_archive or array not in file.names:
        return None
    return [word.decode() if isinstance(word, bytes) else str(word) for word in plain(file.column(array)).ravel()]


def _besides(named: Mapping[str, str | None], *files: Opened) -> dict[str, Any]:
    given = {what: name for what, name in named.items() if name is not None}
    holding = {name: next((file for file in files if name in file.names), files[0]) for name in given.values()}
    return {what: holding[name].column(name) for what, name in given.items()}


def _nuisances(names: Sequence[str], *files: Opened) -> tuple[list[str], Any]:
    """Names and table of the nuisances, from the first file that has them; no names and None if there are none."""
    if not names:
        return [], None
    file = next((file for file in files if set(file.chosen(names)) <= {*file.names}), files[0])
    return (chosen := file.chosen(names)), file.table(chosen)


MOST_LEVELS = 200


def _to_take_apart(file: Opened, names: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The names without levels, and the levels that are factors ('*' for all, '' for the whole column), by column."""
    columns: list[str] = []
    levels: dict[str, list[str]] = {}
    for name in names:
        column, sign, level = name.rpartition("=") if name.endswith(APART) else name.partition("=")
        known = sign and name not in file.names and (level == "*" or {column, f"obs:{column}"} & {*file.names})
        column, level = (column, level) if known else (name, "")
        if column not in levels or level in levels[column]:  # what is named twice is refused later
            columns.append(column)
        levels.setdefault(column, []).append(level)
    return columns, {name.removeprefix("obs:"): each for name, each in levels.items() if each != [""]}


def _levels_apart(table: Any, names: Sequence[str], apart: Mapping[str, Sequence[str]]) -> Any:
    """The factors, with a column for each level (the level, or "other") in place of those to be taken apart."""
    if not apart:
        return table
    given = table if hasattr(table, "columns") or isinstance(table, Mapping) else {names[0]: table}
    columns: dict[str, Any] = {}
    for name in (name.removeprefix("obs:") for name in names):
        columns |= _columns_of_levels(name, list(given[name]), apart.get(name, [""]))
    return columns


def _columns_of_levels(name: str, values: list[Any], chosen: Sequence[str]) -> dict[str, Any]:
    words = [None if value is None or value != value else str(value) for value in values]
    levels = sorted({word for word in words if word is not None})
    if "*" in chosen and len(levels) > MOST_LEVELS:
        raise OptionError(f"{name!r} has {len(levels)} levels, too many for a factor each: leave out {APART!r}.")
    if unknown := [level for level in chosen if level not in ("", "*", *levels)]:
        raise FileError(f"{name!r} has no level {unknown[0]!r} but {shown(levels)}: name one of them, or '*'.")
    columns: dict[str, Any] = {name: values} if "" in chosen else {}
    for level in levels if "*" in chosen else filter(None, chosen):
        columns[f"{name}={level}"] = [word and (word if word == level else "other") for word in words]
    return columns


def _beginning_with(prefix: str, names: list[str]) -> list[str]:
    return [name for name in names if name.lower().startswith(prefix)]


PUBLISHED = {"encoder.conv1.weight", "img_to_features.0.weight"}  # arrays by which a published VAE is recognised


def read_decoder(source: str, latent_size: int | None = None) -> object:
    """Read a decoder: Jacobians in .npy or .npz ('jacobians', optional 'scales'), a published VAE, or 'module:name'.

    The object can be anything that `Evidence` takes as a decoder. ``latent_size`` is for what does not state its size:
    a torch function, a method, or a module.
    """
    if source.endswith((".npy", ".npz")):
        return _saved_jacobians(Path(source))
    if ":" not in source:
        raise FileError(
            f"{source!r} is neither saved Jacobians (.npy, .npz) nor an importable path: write module:name."
        )
    target = imported(source, "decoder")
    decoder = _made(source, target)
    if latent_size is not None and not isinstance(decoder, Decoder):
        from unweave.neural.decoders import torch_decoder

        return torch_decoder(decoder, latent_size) or decoder
    return decoder


def _made(source: str, target: Any) -> object:
    """What a loader returns: a class, or a function that can be called without arguments; other objects as they are."""
    is_class = isinstance(target, type)
    if not is_class and not _is_loader(target):
        return target
    try:
        made: Any = target()
    except UnweaveError:
        raise
    except Exception as error:  # code of the user can raise any exception
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"{source} was called without arguments to make the decoder and failed ({reason}): name an object, or a "
            "function that returns one without arguments."
        ) from error
    if made is None:
        raise InputError(f"{source} returns nothing: let it return the decoder.")
    if is_class and callable(weights := getattr(made, "parameters", None)) and any(True for _ in weights()):
        module, name = sys.modules[target.__module__], target.__name__
        loaders = [key for key, item in vars(module).items() if _is_loader(item) and item.__module__ == module.__name__]
        named = f"such as {source.partition(':')[0]}:{loaders[0]}" if loaders else "such as load() in your module"
        raise InputError(
            f"{source} is a class, which makes a network with new, untrained weights: name a trained {name}, or a "
            f"function without arguments that returns one, {named}."
        )
    return cast(object, made)


def _is_loader(target: Any) -> bool:
    """Whether it is a function, or a method of a class, whose arguments all have defaults."""
    of_class = inspect.ismethod(target) and isinstance(target.__self__, type)
    if not (of_class or inspect.isfunction(target)):
        return False
    needed = inspect.signature(target).parameters.values()
    return all(one.default is not one.empty or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in needed)


def _saved_jacobians(path: Path) -> object:
    file = opened(path)
    if not file.is_one_array and PUBLISHED & set(file.names):
        from unweave.neural.decoders import TorchDecoder
        from unweave.neural.published_vaes import read_published

        model = read_published(path)
        size: Any = model.unhidden[0].in_features  # inputs: Gaussian codes, then probabilities of categories
        return TorchDecoder(model.decode, size, module=model)
    if file.is_one_array:
        if file.content.ndim == 2:
            n_outputs, n_latents = file.content.shape
            note(
                f"{path} is read as one Jacobian of {n_outputs} outputs and {n_latents} latents: if it has codes, pass "
                "the decoder as module:name instead."
            )
        return Jacobians(file.content)
    if "jacobians" not in file.names and "codes" in file.names:
        raise FileError(
            f"{path} has codes, but the geometry metrics need a decoder: pass the decoder as module:name, or a file "
            "with its Jacobians."
        )
    if "jacobians" not in file.names and len(file.names) != 1:
        raise FileError(f"{path} has no array 'jacobians' but {shown(file.names)}: rename the array to use.")
    name = "jacobians" if "jacobians" in file.names else file.names[0]
    return Jacobians(file.column(name), file.column("scales") if "scales" in file.names else None)
