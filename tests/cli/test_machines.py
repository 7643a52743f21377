"""JSON of all commands, errors included, against the published schemas; and the server for assistants."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unweave.cli import main

SCHEMAS = json.loads((Path(__file__).parents[2] / "docs" / "schemas.json").read_text(encoding="utf-8"))
RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(120, 2))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", factors=FACTORS, codes=FACTORS @ RNG.normal(size=(2, 3)))
    np.savez("b.npz", factors=FACTORS, codes=FACTORS)
    np.save("w.npy", RNG.normal(size=(5, 4)))
    Path("board").mkdir()
    return tmp_path


def printed(*words):
    """What a command prints with --json, and its exit code; it must fit its schema."""
    result = CliRunner().invoke(main, [*words, "--json"])
    crashed = result.exception is not None and not isinstance(result.exception, SystemExit)
    assert not crashed, result.exception
    return json.loads(result.stdout), result.exit_code


def fits(content):
    jsonschema = pytest.importorskip("jsonschema")
    assert content["schema"] in SCHEMAS["$defs"]
    jsonschema.Draft202012Validator(SCHEMAS | {"oneOf": [{}]} | SCHEMAS["$defs"][content["schema"]]).validate(content)


def test_every_command_prints_json():
    context = main.make_context("unweave", ["metrics"])
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    without = [
        name for name, command in commands.items() if "as_json" not in {option.name for option in command.params}
    ]
    assert without == ["mcp"]


@pytest.mark.parametrize(
    ("words", "schema"),
    [
        (["metrics"], "metrics/1"),
        (["explain", "mig"], "explain/1"),
        (["score", "a.npz", "--metrics", "mcc,r2", "--budget", "2"], "evaluation/6"),
        (["score", "a.npz", "--quick"], "evaluation/6"),
        (["compare", "a.npz", "b.npz", "--metrics", "r2", "--budget", "2"], "evaluation/6"),
        (["probe", "a.npz", "--probes", "linear"], "probe/1"),
        (["unlabelled", "a.npz", "b.npz"], "unlabelled/1"),
        (["dictionaries", "w.npy", "w.npy"], "dictionaries/1"),
        (["leaderboard", "board"], "leaderboard/1"),
        (["report", "board/a.json", "--markdown", "a.md"], "files/1"),
        (["reproduce", "003"], "papers/1"),
        (["claims", "003"], "claims/1"),
        (["claims", "003:44"], "claims/1"),
        (["checklist", "a.npz"], "checklist/1"),
    ],
)
def test_outputs_fit_their_schemas(folder, words, schema):
    saved = CliRunner().invoke(main, ["score", "a.npz", "--metrics", "mcc,r2", "--quick", "--json"]).stdout
    Path("board/a.json").write_text(saved, encoding="utf-8")
    content, code = printed(*words)
    assert (content["schema"], code) == (f"unweave.{schema}", 0)
    fits(content)


def test_geometry_fits_the_schema_of_an_evaluation_and_its_own(folder):
    content, code = printed("geometry", "w.npy", "--keep", "1")
    assert code == 0
    fits(content)
    assert content["geometry"]["schema"] == "unweave.geometry/1"
    fits(content["geometry"])


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["score", "none.csv"], "FileError", "There is no file none.csv"),
        (["score"], "OptionError", "Missing argument"),
        (["score", "a.npz", "--metrics", "nope"], "OptionError", "nope"),
        (["score", "a.npz", "--factor-names", "x"], "InputError", "name"),
        (["score", "a.npz", "--seeds", "0"], "OptionError", "--seeds"),
        (["explain", "nope"], "OptionError", "no metric called"),
        (["train", "nope", "small_sprites", "--out", "o"], "OptionError", "nope"),
        (["sweep", "none.toml"], "FileError", "none.toml"),
        (["reproduce", "999"], "OptionError", "999"),
        (["claims", "999"], "OptionError", "999"),
        (["nonsense"], "OptionError", "nonsense"),
    ],
)
def test_errors_are_json_too(folder, words, kind, message):
    content, code = printed(*words)
    assert code == 2
    assert message in content["message"]
    assert content["kind"] == kind
    fits(content)


def test_errors_without_json_are_a_sentence(folder):
    result = CliRunner().invoke(main, ["score", "none.csv"])
    assert result.stdout == ""
    assert result.stderr.startswith("Error: There is no file none.csv")


def test_an_assistant_scores_files_by_the_protocol(folder):
    """A client of the protocol starts the server, lists its tools and calls each of them."""
    mcp = pytest.importorskip("mcp")
    import anyio
    from mcp.client.stdio import stdio_client

    (folder.parent / "outside.npz").write_bytes((folder / "a.npz").read_bytes())
    os.symlink(folder.parent / "outside.npz", folder / "link.npz")
    before = sorted(path.name for path in folder.rglob("*"))
    start = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "unweave.cli.mcp", str(folder)],
        env=dict(os.environ),
        cwd=str(folder.parent),
    )
    called = {}

    async def talk():
        async with stdio_client(start) as streams, mcp.ClientSession(*streams) as session:
            await session.initialize()
            called["tools"] = {tool.name: tool for tool in (await session.list_tools()).tools}
            for name, tool, given in [
                ("listed", "list_metrics", {}),
                ("explained", "explain_metric", {"name": "mcc"}),
                ("scored", "score_codes", {"file": "b.npz", "metrics": "mcc,r2", "budget": 2}),
                ("compared", "compare_codes", {"files": ["a.npz", "b.npz"], "metrics": "mcc", "budget": 2}),
                ("probed", "probe_layers", {"files": ["a.npz"], "probes": "linear"}),
                ("missing", "score_codes", {"file": "none.npz"}),
                ("outside", "score_codes", {"file": "../outside.npz"}),
                ("linked", "score_codes", {"file": "link.npz"}),
                ("an option", "score_codes", {"file": "--html=x.html"}),
                ("own code", "score_codes", {"file": "a.npz", "metrics": "os:getcwd"}),
            ]:
                called[name] = await session.call_tool(tool, given)

    anyio.run(talk)
    assert set(called["tools"]) == {"list_metrics", "explain_metric", "score_codes", "compare_codes", "probe_layers"}
    assert all(tool.annotations.read_only_hint for tool in called["tools"].values())

    def content(name):
        assert not called[name].is_error, called[name].content
        return json.loads(called[name].content[0].text)

    assert len(content("listed")["metrics"]) > 40
    assert "MCC = 1/K" in content("explained")["text"]
    assert content("scored")["scores"][0]["value"] == pytest.approx(1.0)
    assert {line["representation"] for line in content("compared")["scores"]} == {"a", "b"}
    assert content("probed")["schema"] == "unweave.probe/1"
    for name, sentence in {
        "missing": "There is no file",
        "outside": "reads only files there",
        "linked": "reads only files there",
        "an option": "There is no file",
        "own code": "runs no code of other modules",
    }.items():
        assert called[name].is_error
        assert sentence in called[name].content[0].text
    assert sorted(path.name for path in folder.rglob("*")) == before
