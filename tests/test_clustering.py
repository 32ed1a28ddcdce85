"""K-means: good, repeatable, and sparing with memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans, kmeans_plusplus
from threadpoolctl import threadpool_info, threadpool_limits

from real_plugin._rows import ArrayRows
from real_plugin.clustering import (
    SCHEDULE,
    SMALL_POOL,
    assign,
    cluster,
    seed_centroids,
    training_rows,
)


def blobs(n_rows, n_blobs=20, dimensions=16, seed=0, spread=0.3):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_blobs, dimensions))
    noise = spread * rng.normal(size=(n_rows, dimensions))
    return (centres[rng.integers(n_blobs, size=n_rows)] + noise).astype(np.float32)


@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_inertia_is_close_to_a_full_lloyd_run(spread):
    E = blobs(40_000, spread=spread)
    full = [KMeans(20, n_init=1, random_state=seed).fit(E).inertia_ for seed in range(7)]
    ours = [cluster(E, 20, seed).inertia for seed in range(7)]
    assert np.median(ours) <= 1.05 * np.median(full)


def test_inertia_and_assignment_belong_to_the_centroids():
    E = blobs(5_000)
    clustering = cluster(E, 30, seed=3)
    distances = ((E[:, None, :] - clustering.centroids[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(clustering.assignment, distances.argmin(axis=1))
    np.testing.assert_allclose(clustering.distance, distances.min(axis=1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(clustering.inertia, distances.min(axis=1).sum(), rtol=1e-4)


def test_seeding_is_as_good_as_scikit_learns():
    E = blobs(600, spread=0.5)

    def potential(centres):
        return ((E[:, None, :] - centres[None]) ** 2).sum(axis=2).min(axis=1).sum()

    ours = np.mean([potential(seed_centroids(E, 20, seed)) for seed in range(10)])
    theirs = np.mean([potential(kmeans_plusplus(E, 20, random_state=s)[0]) for s in range(10)])
    assert ours <= 1.1 * theirs


def test_same_seed_same_clusters_on_any_number_of_threads():
    E = blobs(30_000)
    one = cluster(E, 25, seed=7)
    with threadpool_limits(1):
        other = cluster(E, 25, seed=7)
    np.testing.assert_array_equal(one.assignment, other.assignment)
    assert (cluster(E, 25, seed=8).assignment != one.assignment).any()


def test_thread_limits_reach_faiss():
    import faiss

    with threadpool_limits(1):
        assert faiss.omp_get_max_threads() == 1
        assert all(pool["num_threads"] == 1 for pool in threadpool_info())


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_dtypes_are_read_as_float32(dtype):
    E = blobs(2_000).astype(dtype)
    expected = cluster(E.astype(np.float32), 10, seed=0)
    for layout in (E, np.asfortranarray(E), np.repeat(E, 2, axis=0)[::2]):
        np.testing.assert_array_equal(cluster(layout, 10, seed=0).assignment, expected.assignment)


def test_a_read_only_memory_map_is_read(tmp_path):
    E = blobs(20_000)
    np.save(tmp_path / "E.npy", E)
    mapped = np.load(tmp_path / "E.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        cluster(mapped, 10, seed=0).assignment, cluster(E, 10, seed=0).assignment
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_second_copy_of_the_embeddings(dtype):
    E = blobs(200_000, dimensions=32).astype(dtype)
    tracemalloc.start()
    cluster(E, 20, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < E.nbytes / 4


@pytest.mark.parametrize("n_rows", [1, 5, 1_000, 30_000, 400_000])
@pytest.mark.parametrize("n_clusters", [1, 20, 2_000])
def test_training_rows_are_bounded_and_fair(n_rows, n_clusters):
    rows = training_rows(n_rows, n_clusters, seed=0)
    assert len(set(rows.tolist())) == len(rows)
    assert len(rows) <= SCHEDULE[-1][0] * n_clusters
    assert len(rows) <= max(n_rows // 4, SMALL_POOL, SCHEDULE[0][0] * n_clusters)
    if len(rows) >= 1_000:
        assert abs(rows.mean() / n_rows - 0.5) < 0.06


def test_fewer_distinct_rows_than_clusters():
    E = np.repeat(np.eye(5, dtype=np.float32), 20, axis=0)
    clustering = cluster(E, 10, seed=0)
    assert clustering.inertia == pytest.approx(0, abs=1e-4)
    for block in clustering.assignment.reshape(5, 20):
        assert len(set(block.tolist())) == 1


def test_more_clusters_than_rows_are_clipped():
    assert len(cluster(blobs(7), 50, seed=0).centroids) == 7


@pytest.mark.parametrize("columns", [30, 3_000])
def test_sparse_rows_are_clustered_like_dense_ones(columns):
    rng = np.random.default_rng(0)
    topic = np.arange(600) % 6
    E = np.zeros((600, columns), dtype=np.float32)
    for row, t in enumerate(topic):
        E[row, t * 5 : t * 5 + 5] = 1
        E[row, rng.integers(columns)] += 0.1
    clustering = cluster(sparse.csr_matrix(E), 6, seed=0)
    for t in range(6):
        assert len(set(clustering.assignment[topic == t].tolist())) == 1
    assert len(set(clustering.assignment.tolist())) == 6


def test_assign_in_chunks_is_assign_at_once(monkeypatch):
    E = blobs(1_000)
    centroids = cluster(E, 10, seed=0).centroids
    at_once = assign(ArrayRows("embeddings", E), centroids, 1_000)
    monkeypatch.setattr("real_plugin._rows.CHUNK_ROWS", 64)
    in_chunks = assign(ArrayRows("embeddings", E), centroids, 1_000)
    np.testing.assert_array_equal(at_once[0], in_chunks[0])
    np.testing.assert_allclose(at_once[1], in_chunks[1], rtol=1e-3, atol=1e-5)
