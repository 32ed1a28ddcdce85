"""Hypothesis settings, and scikit-activeml's own test template where it was fetched."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests import tiny

settings.register_profile(
    "default", max_examples=300, deadline=None, derandomize=True, print_blob=True
)
settings.load_profile("default")

TEMPLATE = Path(__file__).parents[1] / ".cache/skactiveml-template/skactiveml/tests"


def _offer_skactiveml_template() -> None:
    """Make `skactiveml.tests` importable: newer wheels of scikit-activeml lack it."""
    if not (TEMPLATE / "__init__.py").exists() or importlib.util.find_spec("skactiveml") is None:
        return
    spec = importlib.util.spec_from_file_location(
        "skactiveml.tests", TEMPLATE / "__init__.py", submodule_search_locations=[str(TEMPLATE)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["skactiveml.tests"] = package
    spec.loader.exec_module(package)


_offer_skactiveml_template()


@pytest.fixture(scope="session")
def tiny_roberta(tmp_path_factory):
    """Folder of a tiny RoBERTa without pooler and without a masked-language head."""
    pytest.importorskip("transformers")
    return tiny.save_roberta(tmp_path_factory.mktemp("roberta"), head=False)


@pytest.fixture(scope="session")
def tiny_masked_lm(tmp_path_factory):
    """Folder of a tiny RoBERTa with its masked-language head."""
    pytest.importorskip("transformers")
    return tiny.save_roberta(tmp_path_factory.mktemp("roberta-mlm"), head=True)
