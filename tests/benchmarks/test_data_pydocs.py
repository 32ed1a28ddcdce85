"""Docstrings make a dataset: the same one in every process, without importing a package."""

import gc
import importlib.metadata
import json
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from benchmarks.data import Protocol, load, pydocs
from benchmarks.data.docstrings import FEWEST_WORDS, first_sentence, harvest
from benchmarks.errors import UsageError


@pytest.fixture(scope="module")
def dataset():
    return load("pydocs")


# The harvest


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Add two numbers.", "Add two numbers."),
        ("Add two\n    numbers. And more.", "Add two numbers."),
        ("Add numpy.int8 and 2.5 to it", "Add numpy.int8 and 2.5 to it"),
        ("\n\nAdd two numbers\n  \nMore text. And more", "Add two numbers"),
        ("Ends here.\nNot here", "Ends here."),
        ("", ""),
    ],
)
def test_first_sentence(docstring, expected):
    assert first_sentence(docstring) == expected


MODULE = '''
"""The docstring of a module."""
def function():
    """The docstring of a function."""
    def inner():
        """The docstring of an inner function."""
async def coroutine():
    """The docstring of a coroutine."""
def _private():
    """The docstring of a private function."""
class Class:
    """The docstring of a class."""
    def method(self):
        """The docstring of a method."""
    def again(self):
        """The docstring of a method."""
    def _method(self):
        """The docstring of a private method."""
    class Inner:
        """The docstring of an inner class."""
    def silent(self):
        pass
    def short(self):
        """Three short words."""
    def shown(self):
        """>>> print(1 + 1, sep="")"""
    def listed(self):
        """Parameters
        ----------
        x : one of the parameters"""
    def fields(self):
        """:param x: one of the parameters"""
    def escaped(self):
        """Escapes a \\d in strings."""
class _Private:
    """The docstring of a private class."""
    def method(self):
        """The docstring of a method of a private class."""
'''
FOUND = ["module", "function", "coroutine", "class", "method", "inner class"]


def write(file, source):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(source if isinstance(source, bytes) else source.encode())


def test_what_is_harvested(tmp_path):
    folder = tmp_path / "tests" / "package"  # where the package is doesn't count
    write(folder / "module.py", MODULE)
    expected = [f"The docstring of a{'n' * (name[0] == 'i')} {name}." for name in FOUND]
    assert harvest(folder) == [*expected, "Escapes a \\d in strings."]


def test_private_modules_have_public_classes(tmp_path):
    source = '"""Docstring of module {0} here."""\ndef f():\n    """Docstring of function {0} here."""\n'
    for name in ("_a.py", "_b/c.py", "__init__.py", "_d/__init__.py"):
        write(tmp_path / name, source.format(name))
    assert harvest(tmp_path) == [
        "Docstring of module __init__.py here.",
        "Docstring of function __init__.py here.",
        "Docstring of function _a.py here.",
        "Docstring of function _b/c.py here.",
        "Docstring of function _d/__init__.py here.",
    ]


def test_tests_and_what_does_not_parse_are_skipped(tmp_path):
    good = '"""Docstring of a good module."""'
    for name in ("tests/a.py", "sub/test/a.py", "testing/a.py", "conftest.py", "sub/conftest.py"):
        write(tmp_path / name, good.replace("good", "test"))
    write(tmp_path / "broken.py", '"""Docstring of a broken module."""\nprint "2"')
    write(tmp_path / "null.py", b'"""Docstring of a null module."""\0')
    write(tmp_path / "bytes.py", b'"""Docstring of a caf\xe9 module."""')
    write(tmp_path / "latin.py", b'# coding: latin-1\n"""Docstring of a caf\xe9 module."""')
    write(tmp_path / "readme.txt", good)
    write(tmp_path / "good.py", good)
    assert harvest(tmp_path) == ["Docstring of a good module.", "Docstring of a café module."]


def test_garbage_collection_is_as_before(tmp_path):
    harvest(tmp_path)
    assert gc.isenabled()
    gc.disable()
    try:
        harvest(tmp_path)
        assert not gc.isenabled()
    finally:
        gc.enable()


# The dataset


def test_it_is_a_fair_task(dataset):
    assert dataset.classes == tuple(pydocs.PACKAGES)
    assert dataset.protocol == Protocol(50, 50, 6, 32)
    counts = Counter()
    texts = []
    for part in dataset.parts().values():
        counts.update(part.labels.tolist())
        texts += part.texts
        assert set(part.labels.tolist()) == set(range(len(dataset.classes)))
    assert all(400 <= n <= pydocs.MOST_A_PACKAGE for n in counts.values())
    assert len(texts) == len(set(texts)) >= 6_000
    shares = [len(part) / len(texts) for part in dataset.parts().values()]
    np.testing.assert_allclose(shares, [0.7, 0.1, 0.2], atol=0.02)
    for name, package in (("numpy", "numpy"), ("scikit-learn", "scikit-learn")):
        assert f"{name} {importlib.metadata.version(package)}" in dataset.source


def test_sentences_are_english_in_the_main(dataset):
    texts = dataset.train.texts
    for text in texts:
        assert len(text.split()) >= FEWEST_WORDS
        assert text == " ".join(text.split())
    words = np.array([len(text.split()) for text in texts])
    assert (words * 1.4 <= dataset.protocol.max_length).mean() > 0.95
    letters = [sum(c.isalpha() or c == " " for c in text) / len(text) for text in texts]
    assert np.mean(np.array(letters) > 0.8) > 0.95


def test_classes_are_mixed(dataset):
    assert len(set(dataset.train.labels[:100].tolist())) > 5


def test_train_limit(dataset):
    limited = load("pydocs", train_limit=100)
    assert len(limited.train) == 100
    assert set(limited.train.texts) < set(dataset.train.texts)
    assert limited.test.texts == dataset.test.texts


PROCESS = """
import json, sys
from benchmarks.data import load
dataset = load("pydocs")
loaded = sorted({name.split(".")[0] for name in sys.modules})
print(json.dumps([dataset.fingerprint, loaded]))
"""


def test_the_same_in_every_process_and_nothing_is_imported(dataset):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        fingerprint, loaded = json.loads(out)
        assert fingerprint == dataset.fingerprint
        unneeded = {"distributed", "fontTools", "huggingface_hub", "matplotlib", "networkx"}
        # scikit-learn is there for real_plugin's sake
        assert not {*unneeded, "sympy", "torch"} & set(loaded)


def fake_packages(tmp_path, monkeypatch, **sentences):
    for package, docstrings in sentences.items():
        for i, docstring in enumerate(docstrings):
            write(tmp_path / package / f"m{i}.py", f'"""{docstring}"""')
        write(tmp_path / package / "__init__.py", "raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pydocs, "PACKAGES", {name: name for name in sentences})


def test_sentences_of_two_packages_are_in_none(tmp_path, monkeypatch):
    shared = "This sentence is in both."
    fake_packages(
        tmp_path,
        monkeypatch,
        fake_one=[shared, "Only the first has it.", "Only the first has it."],
        fake_two=["Only the second has it.", shared],
    )
    found = pydocs.sentences()
    assert found == {
        "fake_one": ["Only the first has it."],
        "fake_two": ["Only the second has it."],
    }


def test_a_new_sentence_moves_no_other(tmp_path, monkeypatch):
    def rows():
        found = pydocs.sentences()["fake_one"]
        return {sentence: pydocs._part(sentence) for sentence in found}

    monkeypatch.setattr(pydocs, "MOST_A_PACKAGE", 30)
    many = [f"Sentence number {i} of the package." for i in range(60)]
    fake_packages(tmp_path, monkeypatch, fake_one=many)
    before = rows()
    assert len(before) == 30
    assert 8 < sum(many.index(sentence) < 30 for sentence in before) < 22  # not by order
    write(tmp_path / "fake_one/a0.py", '"""A sentence that is new."""')
    after = rows()
    assert len(set(before) - set(after)) <= 1
    assert all(after[sentence] == part for sentence, part in before.items() if sentence in after)


@pytest.mark.parametrize("use", [pydocs.sentences, lambda: load("pydocs")])
def test_a_missing_package_is_named(use, monkeypatch):
    monkeypatch.setattr(pydocs, "PACKAGES", {"numpy": "numpy", "no-such": "no_such_package"})
    with pytest.raises(UsageError, match=r"no-such isn't installed: pip install \"\.\[skactiveml"):
        use()
