"""Texts scored on a Dask cluster: every row once, whatever is killed."""

import json
import os
import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip("transformers")
pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

import dask.dataframe as dd
import distributed
import pandas as pd
import pyarrow.parquet as pq

from real_plugin import select
from real_plugin.distributed import score_texts, scoring, select_partitions
from real_plugin.pools import parquet_column
from real_plugin.text import TransformerClassifier
from tests.tiny import topical_texts

TEXTS = topical_texts(200, seed=1)[0]


@pytest.fixture(scope="module")
def classifier(tiny_roberta):
    options = {"lr": 5e-3, "max_length": 16, "max_epochs": 2, "random_state": 0}
    return TransformerClassifier(tiny_roberta, precision="float32", **options).fit(
        *topical_texts(60)
    )


@pytest.fixture
def frame():
    return pd.DataFrame({"text": TEXTS, "key": [f"t{i}" for i in range(200)]})


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, silence_logs="CRITICAL", **options) as cluster:
        yield cluster


def assert_right(scores, classifier, ids=range(200), atol=2e-3):
    """Every id once, in order, with the classifier's own numbers."""
    table = scores.compute()
    assert table["id"].tolist() == list(ids)
    P, E = classifier.predict_proba(TEXTS, return_embeddings=True)
    np.testing.assert_allclose(np.stack(table["probabilities"]), P, atol=1e-5)
    np.testing.assert_allclose(np.stack(table["embedding"]).astype("f4"), E, rtol=2e-3, atol=atol)


def written(folder):
    return {file.name: file.stat().st_mtime_ns for file in folder.glob("part-*.parquet")}


def test_scores_are_the_classifiers_own(frame, classifier, tmp_path):
    scores = score_texts(dd.from_pandas(frame, npartitions=3), classifier, tmp_path)
    assert_right(scores, classifier)
    assert len(written(tmp_path)) == scores.npartitions == 3
    assert np.stack(scores.compute()["embedding"]).dtype == np.float16


def test_the_result_feeds_the_selections(frame, classifier, tmp_path):
    scores = score_texts(
        dd.from_pandas(frame, npartitions=3),
        classifier,
        tmp_path,
        id_column="key",
        dtype="float32",
    )
    assert_right(scores, classifier, ids=frame["key"], atol=1e-5)
    table = scores.compute()
    P, E = np.stack(table["probabilities"]), np.stack(table["embedding"])
    expected = select(P, E, 20, random_state=0).indices.tolist()
    assert select_partitions(scores, "embedding", 20, random_state=0).indices.tolist() == expected
    columns = (parquet_column(tmp_path, name) for name in ("probabilities", "embedding"))
    assert select(*columns, 20, random_state=0).indices.tolist() == expected


def test_a_second_call_scores_only_what_changed(frame, classifier, tmp_path):
    ddf = dd.from_pandas(frame, npartitions=4)
    score_texts(ddf, classifier, tmp_path)
    first = written(tmp_path)
    score_texts(ddf, classifier, tmp_path)
    assert written(tmp_path) == first

    frame.loc[60, "text"] = "another text"
    score_texts(dd.from_pandas(frame, npartitions=4), classifier, tmp_path)
    second = written(tmp_path)
    assert [name for name in first if first[name] != second[name]] == ["part-000001.parquet"]

    (tmp_path / "part-000002.parquet").write_bytes(b"half a fi")
    (tmp_path / "part-000003.parquet").unlink()
    scores = score_texts(dd.from_pandas(frame, npartitions=4), classifier, tmp_path)
    assert scores.compute()["id"].tolist() == list(range(200))

    before = written(tmp_path)
    score_texts(ddf, classifier, tmp_path, tokens_per_batch=64)
    assert all(before[name] != time for name, time in written(tmp_path).items())


def test_empty_partitions_and_saved_models(frame, classifier, tmp_path):
    classifier.save(tmp_path / "saved")
    ddf = dd.from_pandas(frame.assign(row=range(200)), npartitions=4)
    ddf = ddf[(ddf["row"] < 50) | (ddf["row"] >= 100)]
    scores = score_texts(ddf, str(tmp_path / "saved"), tmp_path / "scores")
    assert scores.compute()["id"].tolist() == [*range(50), *range(100, 200)]
    assert len(select_partitions(scores, "embedding", 10, random_state=0)) == 10
    assert not (tmp_path / "scores" / "model").exists()


def test_texts_in_parquet_files(frame, classifier, tmp_path):
    """Of which only some columns are needed; Dask would join their partitions."""
    frame.assign(other="a long text " * 50).to_parquet(tmp_path / "a.parquet", row_group_size=50)
    ddf = dd.read_parquet(tmp_path / "a.parquet", split_row_groups=True)
    scores = score_texts(ddf, classifier, tmp_path / "scores", id_column="key")
    assert scores.npartitions == 4
    assert_right(scores, classifier, ids=frame["key"])


def test_a_model_is_loaded_once(frame, classifier, tmp_path, monkeypatch):
    loads = []
    load = TransformerClassifier.load
    monkeypatch.setattr(
        TransformerClassifier, "load", lambda *a, **k: loads.append(a) or load(*a, **k)
    )
    monkeypatch.setattr(scoring, "_loaded", {})
    score_texts(dd.from_pandas(frame, npartitions=6), classifier, tmp_path)
    assert len(loads) == 1


def test_a_worker_that_is_killed_loses_and_doubles_nothing(frame, classifier, cluster, tmp_path):
    (tmp_path / ".part-000039.of-a-worker-that-died").write_bytes(b"half a fi")
    with distributed.Client(cluster) as client:
        pids = client.run(os.getpid)

        def kill_when_some_are_done():
            while len(written(tmp_path)) < 3:
                time.sleep(0.002)
            os.kill(next(iter(pids.values())), signal.SIGKILL)

        killer = threading.Thread(target=kill_when_some_are_done)
        killer.start()
        scores = score_texts(dd.from_pandas(frame, npartitions=40), classifier, tmp_path)
        killer.join()
        assert set(client.run(os.getpid).values()) != set(pids.values())
        assert_right(scores, classifier)
        client.run(lambda: scoring._loaded.clear())
    assert sorted(written(tmp_path)) == [f"part-{i:06}.parquet" for i in range(40)]
    leftovers = [file.name for file in tmp_path.iterdir() if file.name.startswith(".")]
    assert len(leftovers) <= 1  # what the killed one was writing, if its file was done before
    assert ".part-000039.of-a-worker-that-died" not in leftovers


def test_files_say_what_they_were_made_from(frame, classifier, tmp_path):
    score_texts(dd.from_pandas(frame, npartitions=1), classifier, tmp_path)
    metadata = pq.read_schema(tmp_path / "part-000000.parquet").metadata
    assert set(json.loads(metadata[scoring.METADATA])) == {"model", "texts", "dtype"}


def test_errors(frame, classifier, tmp_path):
    ddf = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(TypeError, match="ddf is a DataFrame; pass a Dask DataFrame"):
        score_texts(frame, classifier, tmp_path)
    with pytest.raises(ValueError, match="no column 'body'; it has text, key"):
        score_texts(ddf, classifier, tmp_path, text_column="body")
    with pytest.raises(ValueError, match="dtype is 'int8'; it must be one of 'float16'"):
        score_texts(ddf, classifier, tmp_path, dtype="int8")
    with pytest.raises(ValueError, match=r"has no real_plugin\.json"):
        score_texts(ddf, tmp_path, tmp_path)
    score_texts(ddf, classifier, tmp_path)
    with pytest.raises(ValueError, match=r"another partitioning, such as part-000001\.parquet"):
        score_texts(dd.from_pandas(frame, npartitions=1), classifier, tmp_path)
    frame.loc[150, "text"] = None
    with pytest.raises(TypeError, match=r"partition 1 has .* in row 50; every text must be a str"):
        score_texts(dd.from_pandas(frame, npartitions=2), classifier, tmp_path)
