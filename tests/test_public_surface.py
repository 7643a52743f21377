"""All public names can be found, have a docstring, and have an example that runs."""

import importlib
import inspect
import subprocess
import sys
import types

import pytest

import unweave

# these rooms need files or training, so an example for every name would take too long
DOCUMENTED_ONLY = ("unweave.datasets", "unweave.models")


def public_names(module):
    """The names in `__all__` of a module, or else all names without an underscore."""
    defined = (name for name, found in vars(module).items() if getattr(found, "__module__", "") == module.__name__)
    return list(getattr(module, "__all__", [name for name in defined if not name.startswith("_")]))


def public_modules(module):
    """The module and all modules that can be reached through its public names."""
    yield module
    for name in public_names(module):
        found = getattr(module, name, None)
        if isinstance(found, types.ModuleType):
            yield from public_modules(found)


MODULES = {module.__name__: module for module in public_modules(unweave)}


def is_shown(found):
    """Whether the docstring of a function or class, or of one of the methods that the class defines, has an example."""
    shown = [found, *(vars(found).values() if inspect.isclass(found) else ())]
    return any(">>>" in (inspect.getdoc(entry) or "") for entry in shown)


@pytest.mark.parametrize("room", MODULES)
def test_every_room_and_every_name_in_it_is_there_documented_and_shown(room):
    assert (MODULES[room].__doc__ or "").strip()
    names = public_names(MODULES[room])
    assert len(set(names)) == len(names)
    for name in names:
        found = getattr(MODULES[room], name)
        assert name in dir(MODULES[room])
        # modules have a turn of their own, constants and aliases of types are described where they are defined
        if inspect.isclass(found) or inspect.isroutine(found):
            assert found.__doc__, f"{name} has no docstring"
            is_exception = inspect.isclass(found) and issubclass(found, Exception)
            assert is_exception or room.startswith(DOCUMENTED_ONLY) or is_shown(found), f"{name} has no example"


@pytest.mark.parametrize("package", [unweave, unweave.estimators, unweave.trust, unweave.synthetic])
def test_what_is_resolved_on_demand_is_what_is_public(package):
    assert package.__dir__() == sorted(package.__all__)


def test_names_lead_to_the_objects_themselves():
    from unweave.trust import noise_floor

    assert unweave.noise_floor is unweave.trust.noise_floor is noise_floor
    assert unweave.synthetic.worlds.Independent(2).n_factors == 2
    assert importlib.import_module("unweave.metrics.manifolds").spectrum is unweave.spectrum


def test_what_is_not_public_is_an_attribute_error():
    for name in ("evalute", "numpy"):
        with pytest.raises(AttributeError, match=name):
            getattr(unweave, name)


def test_help_and_completion_work_without_optional_packages():
    """Without torch the room of models is absent, the error says what to install, and `help` still works."""
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "import pydoc, unweave\n"
        "text = pydoc.render_doc(unweave)\n"
        "assert 'evaluate' in text and 'noise_floor' in text, text[:2000]\n"
        "assert not hasattr(unweave, 'models') and 'models' in dir(unweave)\n"
        "try: unweave.models\n"
        "except AttributeError as error: assert 'unweave[torch]' in str(error), error\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_takes_no_time():
    script = "import time; start = time.process_time(); import unweave; print(time.process_time() - start)"
    seconds = min(
        float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    )
    assert seconds < 0.1
