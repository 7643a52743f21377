"""A module whose package is not installed says in one sentence what to install."""

import importlib
import sys

import pytest

NEEDS = {
    "unweave.integrations.torchmetrics": ("torch", "unweave[torchmetrics]"),
    "unweave.integrations.lightning": ("lightning", "unweave[lightning]"),
    "unweave.neural.flows": ("torch", "unweave[torch]"),
    "unweave.neural.decoders": ("torch", "unweave[torch]"),
    "unweave.models.networks": ("torch", "unweave[torch]"),
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_to_install_is_said_without_the_error_below(monkeypatch, name):
    package, extra = NEEDS[name]
    room = name.rpartition(".")[0]
    for loaded in [each for each in sys.modules if each == package or each.startswith((f"{package}.", room))]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)  # importing it fails, as if it were not installed
    with pytest.raises(ImportError) as caught:
        importlib.import_module(name)
    assert extra in str(caught.value)
    assert str(caught.value).count(". ") == 0
    assert caught.value.__suppress_context__
