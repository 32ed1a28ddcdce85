"""REAL on a Dask cluster: scoring texts, and the same selection as on one machine."""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import pyarrow  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"real_plugin.distributed needs {error.name}: pip install 'real-plugin[dask]'"
    ) from error

from real_plugin.distributed.scoring import score_texts
from real_plugin.distributed.selection import select_partitions

__all__ = ["score_texts", "select_partitions"]
