"""scikit-activeml's own strategy template, run on Real for every variant."""

import unittest
import warnings

import numpy as np
import pytest

pytest.importorskip("skactiveml")
template = pytest.importorskip(
    "skactiveml.tests.template_query_strategy",
    reason="scikit-activeml's template is not here; `make test` fetches it",
)

from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier  # noqa: E402
from skactiveml.tests.utils import ParzenWindowClassifierEmbedding  # noqa: E402
from skactiveml.utils import MISSING_LABEL  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from real_plugin.skactiveml import Real  # noqa: E402


class VariantTemplate(template.TemplateSingleAnnotatorPoolQueryStrategy):
    variant = "real"

    def setUp(self):
        rng = np.random.RandomState(0)
        X = rng.normal(size=(12, 2))
        y = np.full(12, MISSING_LABEL)
        y[:4] = [0, 1, 0, 1]
        self.query_params = {"X": X, "y": y}
        super().setUp(
            qs_class=Real,
            init_default_params={"variant": self.variant, "n_clusters": 3},
            query_default_params_clf={
                **self.query_params,
                "clf": SklearnClassifier(LogisticRegression(), classes=[0, 1], random_state=0),
            },
        )

    def run(self, result=None):
        # The template provokes warnings (clipped batches, for one) that it doesn't check.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().run(result)

    def test_init_param_variant(self):
        cases = [("reel", ValueError), (1, ValueError), (None, ValueError)]
        self._test_param("init", "variant", [*cases, ("pool", None), ("entropy", None)])

    def test_init_param_n_clusters(self):
        cases = [(0, ValueError), ("many", ValueError), (1.5, TypeError), (True, TypeError)]
        cases += [(None, TypeError), ("auto", None), (1, None), (100, None), (np.int64(2), None)]
        self._test_param("init", "n_clusters", cases)

    def test_init_param_residual(self):
        cases = [("code", ValueError), (1, ValueError), ("paper", None), ("density", None)]
        self._test_param("init", "residual", cases)

    def test_init_param_shortfall(self):
        cases = [("none", ValueError), (1, ValueError), ("pool", None), ("cluster", None)]
        self._test_param("init", "shortfall", cases)

    def test_init_param_clf_embedding_flag_name(self):
        cases = [(1, TypeError), (False, TypeError), (True, TypeError), (None, None)]
        cases += [("return_embeddings", None), ({"return_embeddings": True}, None)]
        clf = ParzenWindowClassifierEmbedding(classes=[0, 1], random_state=0)
        self._test_param(
            "init",
            "clf_embedding_flag_name",
            cases,
            replace_query_params={**self.query_params, "clf": clf},
        )

    def test_query_param_clf(self):
        super().test_query_param_clf(
            test_cases=[
                (SVC(), TypeError),
                (SklearnClassifier(SVC()), AttributeError),
                (ParzenWindowClassifier(classes=[0, 1]), None),
            ]
        )

    def test_query(self):
        """The batch is that of select() on the unlabelled rows."""
        from real_plugin import select

        strategy = Real(variant=self.variant, n_clusters=3, random_state=0)
        clf = self.query_default_params_clf["clf"]
        X, y = self.query_params["X"], self.query_params["y"]
        indices = strategy.query(X, y, clf, batch_size=5)
        P = clf.fit(X, y).predict_proba(X[4:])
        expected = select(
            P,
            X[4:],
            5,
            variant=self.variant,
            n_clusters=3,
            random_state=strategy.selection_.random_state,
        )
        self.assertEqual(sorted(indices), sorted(expected.indices + 4))


class TestReal(VariantTemplate, unittest.TestCase):
    variant = "real"


class TestRealPool(VariantTemplate, unittest.TestCase):
    variant = "pool"


class TestRealUniform(VariantTemplate, unittest.TestCase):
    variant = "uniform"


class TestRealCluster(VariantTemplate, unittest.TestCase):
    variant = "cluster"


class TestRealEntropy(VariantTemplate, unittest.TestCase):
    variant = "entropy"
