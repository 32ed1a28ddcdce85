"""Probabilities and embeddings of a Dask DataFrame of texts, written as Parquet."""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from real_plugin._hash import text_sha256
from real_plugin._validation import check_option
from real_plugin.distributed.selection import PROBABILITIES, pieces_of

if TYPE_CHECKING:
    from real_plugin.text import TransformerClassifier

ID, EMBEDDING = "id", "embedding"
DTYPES = ("float16", "float32")
#: Where a file says what it was made from.
METADATA = b"real_plugin"


def score_texts(
    ddf: Any,
    model: TransformerClassifier | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    text_column: str = "text",
    id_column: str | None = None,
    dtype: str = "float16",
    **changes: Any,
) -> Any:
    """Score the texts of a Dask DataFrame on the workers, and write the scores as Parquet.

    Every partition becomes one file, which appears when it is complete. So whatever is
    killed while it works, no row is lost and none is there twice; and a second call scores
    only what is missing, or was made from other texts or by another model.

    Parameters
    ----------
    ddf : Dask DataFrame
        Has a column of texts.
    model : TransformerClassifier, str or path
        A fitted classifier, or the directory of a saved one. A classifier is saved in
        ``path / "model"``. Each worker process loads it once.
    path : str or path
        A folder for the files, which all workers must see.
    text_column : str, default="text"
        The column of texts.
    id_column : str or None, default=None
        The column that identifies a text; None takes the index.
    dtype : {"float16", "float32"}, default="float16"
        Of the embeddings.
    **changes
        Parameters of the classifier to change on the workers, such as ``device="cuda"``.

    Returns
    -------
    Dask DataFrame
        What was written, read lazily, a partition a file: "id", "probabilities" and
        "embedding". ``select_partitions(scores, "embedding", 100)`` takes it.
    """
    if not isinstance(ddf, dd.DataFrame):
        raise TypeError(
            f"ddf is a {type(ddf).__name__}; pass a Dask DataFrame, for example "
            "dask.dataframe.from_pandas(df, npartitions=8)."
        )
    wanted = [text_column] if id_column is None else [text_column, id_column]
    for column in wanted:
        if column not in ddf.columns:
            raise ValueError(f"ddf has no column {column!r}; it has {', '.join(ddf.columns)}.")
    check_option("dtype", dtype, DTYPES)
    folder = Path(path).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    pieces = pieces_of(ddf[wanted])
    files = [folder / f"part-{number:06}.parquet" for number in range(len(pieces))]
    _refuse_other_partitions(folder, files)
    directory = _saved(model, folder)
    job = Job(directory, _identity(directory, changes), text_column, id_column, dtype, changes)
    score = dask.delayed(_score_partition, pure=False)
    dask.compute(*(score(piece, file, job) for piece, file in zip(pieces, files, strict=True)))
    return read_scores(files)


def read_scores(files: Sequence[Path]) -> Any:
    """The files of `score_texts` as a Dask DataFrame."""
    with dask.config.set({"dataframe.convert-string": False}):  # or lists become texts
        return dd.from_map(_read, list(files), meta=_read(files[0]).iloc[:0])


@dataclass(frozen=True)
class Job:
    """What a worker has to know."""

    directory: Path
    identity: str  #: of the model and its parameters
    text_column: str
    id_column: str | None
    dtype: str
    changes: dict[str, Any]


def _refuse_other_partitions(folder: Path, files: Sequence[Path]) -> None:
    others = sorted(set(folder.glob("part-*.parquet")) - set(files))
    if others:
        raise ValueError(
            f"{folder} has files of another partitioning, such as {others[0].name}, and this "
            f"DataFrame has {len(files)} partitions; choose an empty folder, or delete them."
        )


def _saved(model: Any, folder: Path) -> Path:
    """Directory of the model, saved now if it is none yet."""
    if isinstance(model, str | os.PathLike):
        return Path(model).resolve()
    directory = folder / "model"
    model.save(directory)
    return directory


def _identity(directory: Path, changes: dict[str, Any]) -> str:
    from real_plugin.text.checkpoint import read_manifest

    manifest = read_manifest(directory)
    facts = [manifest[key] for key in ("sha256", "parameters", "classes")]
    return text_sha256([json.dumps(facts, sort_keys=True), repr(sorted(changes.items()))])


# On the workers


def _score_partition(piece: pd.DataFrame, file: Path, job: Job) -> None:
    """Write the scores of one partition, unless the file has them already."""
    texts = piece[job.text_column].tolist()
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(
                f"partition {int(file.stem[-6:])} has {text!r} of type {type(text).__name__} in "
                f"row {row}; every text must be a str (drop missing ones, or replace them by '')."
            )
    ids = (piece.index if job.id_column is None else piece[job.id_column]).to_numpy()
    made_from = {
        "model": job.identity,
        "texts": text_sha256(
            [json.dumps([str(i), text]) for i, text in zip(ids, texts, strict=True)]
        ),
        "dtype": job.dtype,
    }
    if _made_from(file) == made_from:
        return
    with _lock:  # a classifier does one thing at a time
        P, E = _classifier(job).predict_proba(texts, return_embeddings=True)
    table = pa.table(
        {ID: pa.array(ids), PROBABILITIES: _lists(P), EMBEDDING: _lists(E.astype(job.dtype))},
        metadata={METADATA: json.dumps(made_from)},
    )
    for leftover in file.parent.glob(f".{file.stem}.*"):  # of a worker that was killed
        leftover.unlink(missing_ok=True)
    temporary = file.with_name(f".{file.stem}.{uuid.uuid4().hex}")
    pq.write_table(table, temporary)
    temporary.replace(file)


def _made_from(file: Path) -> Any:
    """What a file says it was made from; None if there is no whole file."""
    try:
        metadata = pq.read_schema(file).metadata or {}
        return json.loads(metadata[METADATA])
    except (OSError, KeyError, ValueError):
        return None


def _lists(matrix: NDArray[Any]) -> Any:
    values = pa.array(np.ascontiguousarray(matrix).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(values, matrix.shape[1])


def _read(file: Path) -> pd.DataFrame:
    table = pq.read_table(file).combine_chunks()
    columns: dict[str, Any] = {ID: table.column(ID).to_pandas()}
    for name in (PROBABILITIES, EMBEDDING):
        lists = table.column(name).combine_chunks()
        width = lists.type.list_size
        values = lists.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
        columns[name] = pd.Series(list(values), dtype=object)
    return pd.DataFrame(columns)


_lock = threading.Lock()
_loaded: dict[Hashable, Any] = {}  #: the last classifier of this process


def _classifier(job: Job) -> Any:
    """The classifier of a job, loaded once in this process."""
    if job.identity not in _loaded:
        from real_plugin.text import TransformerClassifier

        _loaded.clear()
        options = {"progress": False, **job.changes}
        _loaded[job.identity] = TransformerClassifier.load(job.directory, **options)
    return _loaded[job.identity]
