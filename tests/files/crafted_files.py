"""Damaged and malicious files of every format, each read in a process with little memory.

Run as a script with a folder, the number of the first case and a step, it prints one line per case: its number, its
name, the outcome, the seconds, and the megabytes that were needed and allowed. A line that is not finished is of a case
that ended the process.
"""

import contextlib
import faulthandler
import io
import itertools
import json
import os
import resource
import shutil
import signal
import sys
import time
import warnings
import zipfile
import zlib
from functools import partial
from pathlib import Path

import numpy as np

RNG = np.random.default_rng(0)
ROWS = 40
Z = RNG.normal(size=(ROWS, 3))
MOST_MEMORY, MOST_SECONDS = 6 << 30, 40
GUARD = 64 << 20  # the limit of unpacked data in these processes
BOMB = 4 * GUARD
FLIPS = {"npz": 45, "npy": 25, "h5": 70, "zarr": 40, "parquet": 60, "csv": 60}


def sparse_cases():
    """Sparse matrices with one wrong part each, in every layout that scipy writes."""
    import scipy.sparse

    table = np.where(RNG.random((ROWS, 6)) < 0.4, RNG.normal(size=(ROWS, 6)), 0.0)
    shapes = ([-1, 6], [ROWS, -6], [2**62, 2**62], [ROWS, 10**10], [10**12, 6], [ROWS, 6, 1], [ROWS], [1, 1], [0, 0])
    for layout in ("csr", "csc", "coo", "bsr", "dia"):
        matrix = getattr(scipy.sparse, f"{layout}_array")(table)
        names = {"coo": ("row", "col"), "dia": ("offsets",)}.get(layout, ("indices", "indptr"))
        arrays = matrix.coords if layout == "coo" else [getattr(matrix, name) for name in names]
        good = dict(zip(names, map(np.asarray, arrays), strict=True))
        good |= {"data": matrix.data, "format": np.array(layout.encode()), "shape": np.array(matrix.shape)}
        yield f"sparse {layout} good", good
        for shape in shapes:
            yield f"sparse {layout} shape {shape}", good | {"shape": np.array(shape)}
        for part in ("shape", "format"):
            for value in (np.array(b"\xff\xfe"), np.array("xyz"), np.array([1.5, 2.5]), np.array([]), np.array(None)):
                yield f"sparse {layout} {part} {value}", good | {part: value}
        for part in (*names, "data"):
            array = good[part]
            yield f"sparse {layout} without {part}", {name: value for name, value in good.items() if name != part}
            for label, wrong in wrong_arrays(array):
                yield f"sparse {layout} {part} {label}", good | {part: wrong}


def wrong_arrays(array):
    """The same array with one fault."""
    flat = array.ravel()
    yield "longer", np.r_[flat, flat]
    yield "shorter", flat[:-1]
    yield "empty", flat[:0]
    yield "two axes", flat[:, None]
    yield "one number", np.array(3)
    yield "reversed", flat[::-1]
    yield "text", flat.astype("U8")
    yield "complex", flat + 1j
    yield "objects", flat.astype(object)
    for value in (-1, -(2**31), 2**31 - 1, 2**40, 2**63 - 1):
        for place in (0, flat.size // 2, -1):
            changed = flat.astype(np.int64) if flat.dtype.kind == "i" else flat.copy()
            changed[place] = value
            yield f"{value} at {place}", changed
    yield "all far", np.full(flat.size, 10**9)
    yield "unsigned", np.full(flat.size, 2**64 - 1, np.uint64)


def npz_bytes(arrays, compression=zipfile.ZIP_STORED):
    """Content of an archive of these arrays or bytes, given as pairs so that a name may come twice."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, array in arrays:
            if isinstance(array, bytes):
                archive.writestr(name, array)
            else:
                with archive.open(f"{name}.npy", "w") as member:
                    np.lib.format.write_array(member, np.asanyarray(array))
    return stream.getvalue()


def npy_bytes(shape, descr="<f8", body=b"", order=False):
    """Content of an .npy file whose header need not be true."""
    header = repr({"descr": descr, "fortran_order": order, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


HEADERS = list(
    itertools.product(
        [(10**15,), (-1, 3), (0, 10**9), (10**9, 0), (2**62, 2**62), (ROWS, 3), (True, 2), "abc", (1,) * 40],
        ["<f8", "|S0", "<U0", "|O", "|V0"],
    )
)


def numpy_cases():
    """Archives and arrays that are dense: false headers, repeated names, bombs, damage."""
    for arrays in sparse_cases():
        yield arrays[0], "npz", npz_bytes(list(arrays[1].items()))
    factors = ("factors", Z)
    for shape, descr in HEADERS:
        content = npy_bytes(shape, descr, Z.tobytes())
        yield f"npy header {shape} {descr}", "npy", content
        yield f"npz header {shape} {descr}", "npz", npz_bytes([factors, ("codes.npy", content)])
    good = [factors, ("codes", Z)]
    yield "npz name twice", "npz", npz_bytes([*good, ("codes", -Z)])
    yield "npz name with and without ending", "npz", npz_bytes([*good, ("codes", npy_bytes((1,), body=b"0" * 8))])
    yield "npz bytes", "npz", npz_bytes([factors, ("codes.npy", b"no array")])
    yield "npz objects", "npz", npz_bytes([factors, ("codes", np.array([{}], dtype=object))])
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield f"npz bomb {compression}", "npz", partial(npz_bomb, compression)
    yield "sparse bomb", "npz", sparse_bomb
    for label, offset, value in (("stored", 20, 2**31), ("unpacked", 24, 1000), ("none", 20, 0)):
        yield f"npz bomb with a false size ({label})", "npz", partial(npz_bomb, zipfile.ZIP_DEFLATED, offset, value)
    yield from damaged("npz", npz_bytes(good))
    yield from damaged("npz", npz_bytes(good, zipfile.ZIP_DEFLATED), "deflated")
    yield from damaged("npy", npy_bytes((ROWS, 3), body=Z.tobytes()))


def npz_bomb(compression, offset=None, value=0):
    """An archive that unpacks to far more than its size; a number in the last entry of its directory may be false."""
    content = bytearray(npz_bytes([("factors", Z), ("codes", np.zeros(BOMB // 8))], compression))
    if offset is not None:
        place = content.rindex(b"PK\x01\x02") + offset
        content[place : place + 4] = value.to_bytes(4, "little")
    return bytes(content)


def sparse_bomb():
    """A sparse matrix of which every part unpacks to far more than its size."""
    zeros = np.zeros(BOMB // 8, np.int64)
    parts = {"format": np.array(b"csc"), "shape": np.array([ROWS, 1]), "indptr": zeros, "indices": zeros}
    return npz_bytes([*parts.items(), ("data", zeros * 0.0)], zipfile.ZIP_DEFLATED)


def damaged(ending, content, label=""):
    """Copies of a good file with changed bytes, most of them in its headers, and copies that were cut off."""
    rng = np.random.default_rng(len(content))
    edge = min(400, len(content))
    for k in range(FLIPS[ending]):
        changed = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(len(content))) if k % 3 == 0 else int(rng.integers(edge)) * (-1) ** k
            changed[min(max(place, -len(content)), len(content) - 1)] = int(rng.choice([0, 1, 127, 128, 255]))
        yield f"{ending} {label} changed {k}", ending, bytes(changed)
    for share in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        yield f"{ending} {label} cut at {share}", ending, content[: int(share * len(content))]


def hdf5_cases(folder):
    """HDF5 files with links, foreign storage, cycles, empty arrays, bombs and damage."""
    import h5py

    secret, path = folder / "secret.h5", folder / "made.h5"
    with h5py.File(secret, "w") as file:
        file["codes"] = Z
    (folder / "raw.bin").write_bytes(Z.tobytes())

    def made(fill):
        path.unlink(missing_ok=True)
        with h5py.File(path, "w") as file:
            file["factors"] = Z
            fill(file)
        return path.read_bytes()

    def cycle(file):
        file["codes"], file["other"] = h5py.SoftLink("/other"), h5py.SoftLink("/codes")

    def linked_group(file):
        file.create_group("g")["codes"] = h5py.ExternalLink(str(secret), "/codes")
        file["codes"] = h5py.SoftLink("/g/codes")

    def virtual(file):
        layout = h5py.VirtualLayout((ROWS, 3), "f8")
        layout[:] = h5py.VirtualSource(str(secret), "codes", (ROWS, 3))
        file.create_virtual_dataset("codes", layout)

    def raw_chunk(content, filters=1):
        def fill(file):
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((ROWS, 3))
            for _ in range(filters):
                plist.set_deflate(9)
            space = h5py.h5s.create_simple((ROWS, 3))
            made_set = h5py.h5d.create(file.id, b"codes", h5py.h5t.NATIVE_DOUBLE, space, plist)
            made_set.write_direct_chunk((0, 0), content)

        return fill

    n_rows = BOMB // 24
    text = h5py.string_dtype()
    fills = {
        "external link": lambda file: file.__setitem__("codes", h5py.ExternalLink(str(secret), "/codes")),
        "external link to nothing": lambda file: file.__setitem__("codes", h5py.ExternalLink("none.h5", "/codes")),
        "soft link": lambda file: file.__setitem__("codes", h5py.SoftLink("/factors")),
        "dangling soft link": lambda file: file.__setitem__("codes", h5py.SoftLink("/nothing")),
        "soft link to an external link": linked_group,
        "links in a circle": cycle,
        "group in itself": lambda file: file.__setitem__("codes", file["/"]),
        "virtual": virtual,
        "external storage": lambda file: file.create_dataset(
            "codes", (ROWS, 3), "f8", external=[(str(folder / "raw.bin"), 0, Z.nbytes)]
        ),
        "null space": lambda file: file.__setitem__("codes", h5py.Empty("f8")),
        "no rows": lambda file: file.create_dataset("codes", (0, 3)),
        "no columns": lambda file: file.create_dataset("codes", (ROWS, 0)),
        "no rows of many columns": lambda file: file.create_dataset("codes", (0, 10**9)),
        "one number": lambda file: file.__setitem__("codes", 3.0),
        "three axes": lambda file: file.__setitem__("codes", np.zeros((ROWS, 2, 2))),
        "text": lambda file: file.create_dataset("codes", data=["a"] * ROWS, dtype=text),
        "pairs": lambda file: file.create_dataset("codes", (ROWS,), [("a", "f8"), ("b", "i4")]),
        "references": lambda file: file.create_dataset("codes", (ROWS,), h5py.ref_dtype),
        "lists": lambda file: file.create_dataset("codes", (ROWS,), h5py.vlen_dtype(np.float64)),
        "enumeration": lambda file: file.create_dataset("codes", (ROWS,), h5py.enum_dtype({"a": 0, "b": 1})),
        "opaque": lambda file: file.__setitem__("codes", np.zeros(ROWS, "V7")),
        "complex": lambda file: file.__setitem__("codes", Z + 1j),
        "bomb of chunks that are not there": lambda file: file.create_dataset("codes", (10**9, 3), chunks=(1000, 3)),
        "bomb of a size beyond counting": lambda file: file.create_dataset("codes", (2**40, 2**30), chunks=(8, 8)),
        "bomb not allocated": lambda file: file.create_dataset("codes", (10**9, 3)),
        "compressed twice": raw_chunk(zlib.compress(zlib.compress(Z.tobytes())), 2),
        "chunk that is no stream": raw_chunk(b"nothing"),
        "chunk that is too short": raw_chunk(zlib.compress(b"short")),
        "chunk that is larger than it says": raw_chunk(zlib.compress(bytes(BOMB), 9)),
    }
    for compression in ("gzip", "lzf"):
        fills[f"bomb of {compression}"] = lambda file, way=compression: file.create_dataset(
            "codes", data=np.zeros((n_rows, 3)), chunks=(n_rows // 8, 3), compression=way
        )
    for label, fill in fills.items():
        yield f"h5 {label}", "h5", partial(made, fill)
    good = made(lambda file: file.create_dataset("codes", data=Z, chunks=(20, 3), compression="gzip", shuffle=True))
    yield "h5 good", "h5", good
    yield from damaged("h5", good)
    yield from damaged("h5", made(lambda file: file.__setitem__("codes", Z)), "contiguous")


def zarr_cases():
    """Zarr stores, as mappings of names to contents, with false metadata, bombs, links and damage."""
    import zarr

    def made(version, **options):
        store = zarr.storage.MemoryStore()
        group = zarr.open_group(store, mode="w", zarr_format=version)
        group.create_array("factors", data=Z)
        group.create_array("codes", **options)
        return {name: buffer.to_bytes() for name, buffer in store._store_dict.items()}

    def bomb(version):
        return made(version, data=np.ones((BOMB // 24, 3)), chunks=(10**6, 3))

    for version, note in ((2, "codes/.zarray"), (3, "codes/zarr.json")):
        good = made(version, data=Z)
        yield f"zarr {version} good", "zarr", good
        declared = json.loads(good[note])
        changes = [("shape", shape) for shape in ([10**9, 3], [0, 10**9], [-1, 3], [], "x", [1e3, 3], [2**70, 3], [3])]
        changes += [("fill_value", value) for value in ("x", None, 1e400, [1])]
        changes += [(name, value) for name in ("dtype", "data_type") for value in ("|O", "object", "|S0", 7, "float64")]
        changes += [(name, value) for name in ("filters", "codecs", "compressor") for value in (None, [], "x", [{}])]
        grid = {"name": "regular", "configuration": {"chunk_shape": [2**40, 3]}}
        changes += [("chunks", [10**12, 3]), ("chunks", [0, 3]), ("chunk_grid", grid), ("chunk_grid", 1)]
        changes += [("zarr_format", 99), ("node_type", "x"), ("attributes", 3)]
        for name, value in changes:
            yield f"zarr {version} {name} {value}", "zarr", good | {note: json.dumps(declared | {name: value}).encode()}
        twice = good[note].decode().strip()[:-1] + ', "shape": [5, 3]}'
        yield f"zarr {version} key twice", "zarr", good | {note: twice.encode()}
        yield f"zarr {version} deep", "zarr", good | {note: b"[" * 100_000}
        yield f"zarr {version} bomb", "zarr", partial(bomb, version)
        yield f"zarr {version} no chunks", "zarr", made(version, shape=(10**9, 3), dtype="f8", chunks=(1000, 3))
        chunk = next(name for name in good if name.startswith("codes/") and name != note and "zattrs" not in name)
        yield f"zarr {version} link", "zarr", good | {chunk: Path("/dev/zero")}
        for name in (note, chunk):
            content = list(damaged("zarr", good[name]))
            for label, _, changed in content[:20] + content[-7:]:
                yield f"{label} {version} {name}", "zarr", good | {name: changed}


def table_cases(folder):
    """Parquet files and tables of text."""
    import polars

    def made(frame, **options):
        frame.write_parquet(folder / "made.parquet", **options)
        return (folder / "made.parquet").read_bytes()

    def bomb(frame, compression):
        return made(frame(), compression=compression)

    columns = {"factor a": Z[:, 0], "code b": Z[:, 1], "code c": Z[:, 2]}
    good = made(polars.DataFrame(columns))
    yield "parquet good", "parquet", good
    bombs = {
        "numbers": lambda: polars.select(factor_a=polars.repeat(1, 2 * BOMB // 8), code_b=1.0),
        "text": lambda: polars.DataFrame({"factor a": ["x" * (BOMB // 4)] * 4, "code b": [1.0] * 4}),
        "lists": lambda: polars.select(factor_a=1.0, code_b=polars.repeat(1.0, BOMB // 8).implode()),
    }
    for (label, frame), compression in itertools.product(bombs.items(), ("zstd", "gzip")):
        yield f"parquet bomb of {label} {compression}", "parquet", partial(bomb, frame, compression)
    mixed = {"factor a": list("ab" * (ROWS // 2)), "code b": [[1.0, 2.0]] * ROWS, "code c": [{"x": 1}] * ROWS}
    for label, content in (("plain", good), ("mixed", made(polars.DataFrame(mixed), compression="uncompressed"))):
        yield from damaged("parquet", content, label)


ODD_FIELDS = (
    *("1_000", "0x10", "0b1", "inf", "-inf", "Infinity", "nan", "1e999", "-1e999", "1e-999", "1e5_0", "+1", "1.", ".5"),
    *("1,5", " 1 ", "", '""', '"', "\uff11\uff12", "\u0663", "\u221e", "5%", "$5", "1d5", "1 000", "--1", "1e", "\x00"),
    *(
        "True",
        "NULL",
        "=1+1",
        "\u202e1",
        "\ufeff1",
        "9" * 400,
        "9" * 10**5,
        "\x1b[31m",
        "\t1",
        "\r",
        "1\r2",
        "\x85",
        "\u2028",
    ),
)


def csv_cases():
    """Tables of text with odd fields, names, encodings, line ends, quotes and sizes."""
    text = "factor a,code b\n" + "1.5,2.5\n" * ROWS
    for level in (0, 1, 6, 9):
        yield f"csv compressed {level}", "csv", zlib.compress(text.encode() + b"1,1\n" * 10**6, level)
    for field in ODD_FIELDS:
        for place in ("1.5", "2.5"):
            yield f"csv field {field[:8]!r} for {place}", "csv", text.replace(place, field, 1).encode()
    for name in (
        "factor a",
        " factor a",
        '"factor a"',
        "Factor A",
        "",
        "\x00",
        "\ufeffcode",
        "code\u202eb",
        '"code\nb"',
        "1",
    ):
        yield f"csv name {name!r}", "csv", text.replace("code b", name).encode()
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "shift-jis", "utf-7", "cp037"):
        content = text.replace("1.5", "gr\u00f6\u00dfe" if encoding != "shift-jis" else "\u5c3a", 3)
        yield f"csv in {encoding}", "csv", content.encode(encoding)
    yield "csv in two encodings", "csv", (text + "\u5c3a,1\n").encode() + "\u00df,2\n".encode("latin-1")
    yield "csv with a second mark of order", "csv", b"\xef\xbb\xbf" * 2 + text.encode()
    for ends in ("\r\n", "\r", "\n\r", "\n\n", "\r\r\n", "\x0b", "\x00\n"):
        yield f"csv ends {ends!r}", "csv", text.replace("\n", ends).encode()
    wide = ",".join(f"code {k}" for k in range(200_000))
    for label, changed in {
        "empty": "",
        "only a mark of order": "\ufeff",
        "only line ends": "\n" * 1000,
        "nul": text.replace("1.5", "1\x00"),
        "only nul": "\x00" * 10**6,
        "one long line": "factor a,code b\n" + "9" * 10**6,
        "a field of 30 MB": text + "x" * 30_000_000 + ",1\n",
        "a quoted field of 30 MB": text + '"' + "x\n" * 15_000_000 + '",1\n',
        "a name of 1 MB": "x" * 10**6 + text,
        "quote never closed": text + '"1,2\n' * 10,
        "quote never closed in a long file": '"' + text * 2_000,
        "only quotes": '"' * 10**6,
        "quotes inside": text.replace("1.5", '1"5'),
        "quotes in pairs": text.replace("1.5", '"1""5"'),
        "ragged": text + "1,2,3\n1\n",
        "quotes": text.replace("1.5", '"1.5'),
        "repeated": text.replace("code b", "factor a"),
        "escape": "\x1b[31mfactor a,code b\n1,2\n",
        "huge numbers": text.replace("1.5", "1e999"),
        "no rows": "factor a,code b\n",
        "no last line end": text.rstrip(),
        "many columns": f"factor a,{wide}\n" + ("1," * 200_000 + "1\n") * 3,
        "many columns of one name": "factor a" + ",code" * 10**6 + "\n" + "1," * 10**6 + "1\n",
        "a million columns of no rows": "factor a," + ",".join(f"c{k}" for k in range(10**6)) + "\n",
        "many commas": "," * 10**6 + "\n" + "," * 10**6 + "\n",
        "many rows": text + "1.5,2.5\n" * 300_000,
    }.items():
        yield f"csv {label}", "csv", changed.encode()
    yield from damaged("csv", text.encode())


def data_set_cases(folder):
    """Files of published image data sets, small and good, damaged, and larger once unpacked than they should be."""
    import gzip

    import h5py
    from scipy.io import savemat

    grid = np.array([[0, 0, 0, 0, i, j] for i in range(2) for j in range(2)])
    pixels = RNG.integers(0, 255, size=(4, 8, 8, 3)).astype(np.uint8)

    def shapes3d(images=None, labels=grid, **options):
        path = folder / "made.h5"
        path.unlink(missing_ok=True)
        with h5py.File(path, "w") as file:
            file.create_dataset("images", data=pixels if images is None else images, **options)
            file["labels"] = labels
        return path.read_bytes()

    def linked():
        path = folder / "made.h5"
        path.unlink(missing_ok=True)
        with h5py.File(path, "w") as file:
            file["labels"], file["images"] = grid, h5py.ExternalLink(str(folder / "secret.h5"), "/codes")
        return path.read_bytes()

    def packed(**arrays):
        return npz_bytes(arrays.items(), zipfile.ZIP_DEFLATED)

    def car(views):
        stream = io.BytesIO()
        savemat(stream, {"im": views}, do_compression=True)
        return stream.getvalue()

    def idx(shape, body):
        head = b"\0\0\x08" + bytes([len(shape)]) + b"".join(size.to_bytes(4, "big") for size in shape)
        return gzip.compress(head + body)

    sprites = {"imgs": pixels[..., 0] % 2, "latents_classes": grid, "latents_values": grid.astype(float)}
    views = RNG.integers(0, 255, size=(4, 4, 3, 2, 2)).astype(np.uint8)
    zeros = partial(np.zeros, (BOMB // 8, 6))
    good = {
        "shapes3d.h5": shapes3d(),
        "dsprites.npz": packed(**sprites),
        "mpi3d.npz": packed(images=pixels),
        "cars.mat": car(views),
        "idx.gz": idx((4, 2, 2), bytes(16)),
    }
    for ending, content in good.items():
        yield f"data set good {ending}", ending, content
        for label, _, changed in damaged("npz", content, ending):
            yield f"data set {label}", ending, changed
    yield "data set link", "shapes3d.h5", linked
    yield "data set text for labels", "shapes3d.h5", partial(shapes3d, labels=[b"a"] * 4)
    yield "data set no pixels", "shapes3d.h5", partial(shapes3d, images=np.zeros((0, 8, 8, 3), np.uint8))
    side = int((BOMB / 12) ** 0.5)
    flat = partial(np.zeros, (4, side, side, 3), np.uint8)
    yield "data set bomb of HDF5", "shapes3d.h5", lambda: shapes3d(flat(), compression="gzip", chunks=(4, 64, side, 3))
    yield "data set bomb of npz", "dsprites.npz", lambda: packed(**sprites | {"latents_values": zeros()})
    yield "data set bomb of mat", "cars.mat", lambda: car(np.zeros((BOMB // 12, 1, 3, 2, 2), np.uint8))
    yield "data set bomb of gzip", "idx.gz", lambda: idx((BOMB,), bytes(BOMB))
    yield "data set bomb behind a small header", "idx.gz", lambda: idx((4, 2, 2), bytes(BOMB))
    yield "data set with an array twice", "dsprites.npz", npz_bytes([*sprites.items(), ("imgs", grid)])
    yield "data set of objects", "dsprites.npz", packed(**sprites | {"latents_values": np.array([[{}]], dtype=object)})


def json_cases():
    """Saved evaluations with one wrong entry each, repeated keys, and deep nesting."""
    import unweave

    text = unweave.evaluate(Z, Z, metrics=["mcc"], quick=True).to_json()
    yield "json good", "json", text.encode()
    for label, old, new in (
        ("key twice", "{", '{"schema": "x", '),
        ("key twice inside", '"rows": [{', '"rows": [{"label": "x", "label": "y", '),
        ("deep inside", '"data": {', '"data": {"x": ' + "[" * 900 + "]" * 900 + ", "),
    ):
        yield f"json {label}", "json", text.replace(old, new, 1).encode()
    yield "json deep", "json", b"[" * 10**5
    yield "json of many digits", "json", b"1" * 10**6
    content = json.loads(text)
    for path in list(leaves(content))[::2]:
        for value in (10**12, -1, 1e300, "x" * 1000, None, [], {"kind": "?"}):
            changed = json.loads(text)
            entry = changed
            for key in path[:-1]:
                entry = entry[key]
            entry[path[-1]] = value
            yield f"json {'.'.join(map(str, path))} {str(value)[:20]}", "json", json.dumps(changed).encode()


def leaves(content, path=()):
    if isinstance(content, (dict, list)) and len(content):
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from leaves(content[key], (*path, key))
    else:
        yield path


def cases(folder):
    """Name, ending and content of every crafted file."""
    sources = (
        numpy_cases(),
        hdf5_cases(folder),
        zarr_cases(),
        table_cases(folder),
        csv_cases(),
        json_cases(),
        data_set_cases(folder),
    )
    return itertools.chain.from_iterable(sources)


def written(folder, ending, content):
    """Path of a crafted file."""
    path, content = folder / f"crafted.{ending}", content() if callable(content) else content
    if isinstance(content, bytes):
        path.write_bytes(content)
        return path
    for name, entry in content.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(entry, Path):
            os.symlink(entry, path / name)
        else:
            (path / name).write_bytes(entry)
    return path


DATA_SETS = {
    "crafted.shapes3d.h5": lambda datasets, idx, path: datasets.Shapes3D(path).images([0, 1]),
    "crafted.dsprites.npz": lambda datasets, idx, path: datasets.DSpritesFile(path).images([0, 1]),
    "crafted.mpi3d.npz": lambda datasets, idx, path: datasets.MPI3D(path, (2, 2, 1, 1, 1, 1, 1)).images([0, 1]),
    "crafted.cars.mat": lambda datasets, idx, path: datasets.Cars3D(path.parent).images([0, 1]),
    "crafted.idx.gz": lambda datasets, idx, path: idx(path),
}


def outcome(path, factors):
    """What reading a crafted file gives."""
    from unweave.errors import UnweaveError
    from unweave.evaluation import Evaluation
    from unweave.evidence import Evidence
    from unweave.files.formats import opened
    from unweave.files.reading import read_files

    try:
        if path.name in DATA_SETS:
            from unweave import datasets
            from unweave.datasets.digits import read_idx

            assert DATA_SETS[path.name](datasets, read_idx, path) is not None
            return "read"
        if path.suffix == ".json":
            Evaluation.load(path).to_markdown()
            return "read"
        alone = opened(path).is_one_array
        files = read_files(factors, path) if alone else read_files(path)
        evidence = Evidence(files.factors, files.codes, kinds=files.kinds, missing="drop")
        assert evidence.fingerprint
        if evidence.sparse_codes is not None:
            assert np.isfinite(evidence.sparse_codes.products(np.ones((evidence.n_rows, 1)))).all()
    except UnweaveError as error:
        text = str(error)
        clear = (
            text.endswith((".", "?"))
            and len(text) < 700
            and text.replace("\n", "\0").replace("\xa0", " ").isprintable()
        )
        return "refused" if clear else f"unclear: {text!r}"
    except BaseException as error:
        return f"foreign {type(error).__name__}: {' '.join(str(error).split())[:150]}"
    return "read"


def memory(field):
    """Megabytes of memory that this process has (VmRSS), or had at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) >> 10


def main(folder, first, step):
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    with contextlib.suppress(ImportError):  # absent in older versions, which are then tested with their own limit
        from unweave.evidence import archives

        archives.LARGEST_UNPACKED = GUARD
    np.save(folder / "factors.npy", Z)
    files = folder / "files"
    for number, (name, ending, content) in enumerate(cases(folder)):
        if number < first or number % step:
            continue
        shutil.rmtree(files, ignore_errors=True)
        files.mkdir()
        path = written(files, ending, content)
        print(f"{number}\t{name}", end="", flush=True)
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of memory
        signal.alarm(MOST_SECONDS)
        before, start = memory("VmRSS"), time.process_time()
        said = outcome(path, folder / "factors.npy")
        signal.alarm(0)
        # a file may always be unpacked to a hundred times its size, and its numbers are copied a few times
        most = 5 * max(GUARD, 100 * path.stat().st_size) >> 20
        print(f"\t{said}\t{time.process_time() - start:.2f}\t{memory('VmHWM') - before}\t{most}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
