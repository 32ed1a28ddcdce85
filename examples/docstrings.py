"""Real texts that every installation has: first sentences of docstrings.

The files are parsed, not imported. The class of a sentence is the package it is from.
"""

import ast
import importlib.util
from pathlib import Path

PACKAGES = ("numpy", "scipy", "sklearn")


def load(n_rows: int) -> tuple[list[str], list[str]]:
    """About `n_rows` sentences, as many of each package, and the packages."""
    sentences, packages = [], []
    for package in PACKAGES:
        found = sorted(first_sentences(package))[::7]
        share = found[: n_rows // len(PACKAGES)]
        sentences += share
        packages += [package] * len(share)
    return sentences, packages


def first_sentences(package: str) -> set[str]:
    """The first line of every public docstring of 4 words or more."""
    folder = Path(importlib.util.find_spec(package).submodule_search_locations[0])
    sentences = set()
    for file in sorted(folder.rglob("[a-z]*.py")):
        if "tests" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                first = (ast.get_docstring(node) or "").split("\n")[0]
                if len(first.split()) >= 4:
                    sentences.add(first)
    return sentences
