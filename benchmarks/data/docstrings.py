"""English sentences that every installation has: those of the packages' docstrings."""

from __future__ import annotations

import ast
import gc
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FEWEST_WORDS = 4
#: Folders and modules that hold no documentation.
SKIPPED = frozenset({"tests", "test", "testing", "conftest"})
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=\.)\s")
#: Headings, doctests, field lists and directives that stand where a sentence should.
_MARKUP = re.compile(r">>>|---|===|~~~|^[:.@]")


def harvest(folder: Path) -> list[str]:
    """Distinct first sentences of a package's public docstrings, by path and line.

    The files are parsed, not imported. Those of modules, classes, functions and methods
    count whose own name and class don't start with an underscore. A class in a private
    module counts: packages offer such classes under other names.
    """
    sentences: dict[str, None] = {}
    with _fast_parsing():
        for file in sorted(folder.rglob("*.py"), key=lambda file: file.as_posix()):
            for docstring in _public_docstrings(file, folder):
                sentence = first_sentence(docstring)
                if len(sentence.split()) >= FEWEST_WORDS and not _MARKUP.search(sentence):
                    sentences[sentence] = None
    return list(sentences)


@contextmanager
def _fast_parsing() -> Iterator[None]:
    """No warnings of escapes in other people's strings, and no search for garbage.

    Trees are large and have no cycles: the search finds nothing, but takes a third of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if was_enabled:
            gc.enable()


def first_sentence(docstring: str) -> str:
    """Up to a period before whitespace, or all of the first paragraph, in one line."""
    paragraph = _PARAGRAPH_END.split(docstring.strip(), maxsplit=1)[0]
    return " ".join(_SENTENCE_END.split(paragraph, maxsplit=1)[0].split())


def _public_docstrings(file: Path, folder: Path) -> Iterator[str]:
    path = file.relative_to(folder).with_suffix("").parts
    if SKIPPED.intersection(path):
        return
    try:
        module = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # not of this Python, or not meant to be parsed
        return
    if not any(name.startswith("_") and name != "__init__" for name in path):
        yield ast.get_docstring(module) or ""
    for definition in _public_definitions(module):
        yield ast.get_docstring(definition) or ""


def _public_definitions(parent: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    for node in parent.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public_definitions(node)
