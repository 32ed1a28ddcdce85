"""Threads over blocks of rows, instead of those inside every product of matrices.

The products here are small, so the libraries' own threads would mostly wait for each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

#: Limits hold for the whole process, so only one of its threads may set them at a time.
_lock = threading.Lock()

Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Numerical libraries use one thread."""
    with _lock, _libraries().limit(limits=1):
        yield


@contextmanager
def block_threads() -> Iterator[tuple[int, Run]]:
    """How many threads there are for blocks, and a `map` that uses them.

    As many as the libraries may use. One, if these are limited to one, or if another thread
    of this process has them all.
    """
    if not _lock.acquire(blocking=False):
        yield 1, map
        return
    try:
        count = min((library["num_threads"] for library in _libraries().info()), default=1)
        if count == 1:
            yield 1, map
        else:
            with _libraries().limit(limits=1), ThreadPoolExecutor(count) as executor:
                yield count, executor.map
    finally:
        _lock.release()
