"""How many threads a cell may use, in every library that has its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import faiss
import torch
from threadpoolctl import threadpool_limits


def cores() -> int:
    """Processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def limit_threads(n_threads: int) -> Iterator[None]:
    """At most `n_threads` in torch, faiss and the linear algebra underneath."""
    before_torch, before_faiss = torch.get_num_threads(), faiss.omp_get_max_threads()
    with threadpool_limits(n_threads):
        torch.set_num_threads(n_threads)
        faiss.omp_set_num_threads(n_threads)
        try:
            yield
        finally:
            torch.set_num_threads(before_torch)
            faiss.omp_set_num_threads(before_faiss)
