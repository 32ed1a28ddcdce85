"""Vectors of texts under a pretrained encoder, computed once and kept on disk.

A vector belongs to a text, a model and a length: new texts cost themselves only, whatever
file they come in. Vectors are written in blocks, each at once, so an interruption loses the
block that is being computed and nothing else.
"""

from __future__ import annotations

import hashlib
import time
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from real_plugin._errors import UsageError
from real_plugin._files import replace_file
from real_plugin._models import resolve, sha256
from real_plugin.labeling.console import count, say

Vectors = NDArray[np.float32]
#: Texts a block.
BLOCK = 2048
_KEY_BYTES = 16
#: Files of a model that its vectors depend on.
_MODEL_FILES = ("*.json", "*.safetensors", "*.bin", "*.txt", "*.model")


class VectorStore:
    """Vectors of one encoder, in a folder.

    Parameters
    ----------
    cache : Path
        Folder that may hold the vectors of several encoders.
    encoder : str
        A folder in the Hugging Face layout, a name on the hub, or "minilm".
    max_length : int
        Tokens a text; longer ones are cut off.
    """

    def __init__(self, cache: Path, encoder: str, max_length: int) -> None:
        self.encoder = encoder
        self.max_length = max_length
        name = f"{encoder_hash(encoder)[:16]}-{max_length}"
        self.folder = cache / "vectors" / name

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for every text, from the disk or else from the encoder."""
        keys = [_key(text) for text in texts]
        rows: dict[bytes, list[int]] = {}
        for row, key in enumerate(keys):
            rows.setdefault(key, []).append(row)
        found: Vectors | None = None
        for block_keys, block in self._blocks(rows):
            if found is None:
                found = np.empty((len(texts), block.shape[1]), dtype=np.float32)
            _place(found, rows, block_keys, block)
        if rows:
            missing = [texts[positions[0]] for positions in rows.values()]
            for block_keys, block in self._encode(missing, len(set(keys))):
                if found is None:
                    found = np.empty((len(texts), block.shape[1]), dtype=np.float32)
                _place(found, rows, block_keys, block)
        if found is None:
            raise ValueError("there are no texts to encode")
        return found

    def _blocks(self, wanted: dict[bytes, list[int]]) -> Iterator[tuple[list[bytes], Vectors]]:
        """Blocks on disk that have some of the wanted keys."""
        for file in sorted(self.folder.glob("block-*.npz")):
            if not wanted:
                return
            try:
                with file.open("rb") as stream, np.load(stream) as block:
                    keys = _split(block["keys"].tobytes())
                    if any(key in wanted for key in keys):
                        yield keys, block["vectors"]
            except (OSError, ValueError, KeyError, zipfile.BadZipFile):
                say(f"{file} can't be read; its texts are encoded again")
                file.unlink(missing_ok=True)

    def _encode(self, texts: list[str], total: int) -> Iterator[tuple[list[bytes], Vectors]]:
        """Encode texts block by block; each is on disk before the next begins."""
        known = f"; {total - len(texts):,} more are known" * (len(texts) < total)
        say(f"encoding {count(len(texts), 'text')} with {self.encoder}{known}")
        with _notes_of_warnings(self.max_length):
            classifier = load_classifier(self.encoder, self.max_length)
            start = time.monotonic()
            with tqdm(total=len(texts), desc="encoding", unit=" texts", disable=None) as bar:
                for first in range(0, len(texts), BLOCK):
                    block = texts[first : first + BLOCK]
                    vectors = classifier.embed(block)
                    keys = [_key(text) for text in block]
                    self._write(keys, vectors)
                    bar.update(len(block))
                    if first == 0 and bar.disable and len(texts) > BLOCK:
                        seconds = (time.monotonic() - start) * (len(texts) / BLOCK - 1)
                        say(f"  about {_duration(seconds)} to go")
                    yield keys, vectors

    def _write(self, keys: list[bytes], vectors: Vectors) -> None:
        joined = b"".join(keys)
        name = hashlib.sha256(joined).hexdigest()[:16]

        def write(temporary: Path) -> None:
            with temporary.open("wb") as stream:
                np.savez(stream, keys=np.frombuffer(joined, dtype=np.uint8), vectors=vectors)

        replace_file(self.folder / f"block-{name}.npz", write)


def load_classifier(encoder: str, max_length: int) -> Any:
    """The pretrained encoder, ready to embed one block after the other."""
    from real_plugin.text import TransformerClassifier

    classifier = TransformerClassifier(
        encoder, classes=(0, 1), max_length=max_length, progress=False
    )
    return classifier.initialize()


def encoder_hash(encoder: str) -> str:
    """A hash of an encoder's files, without loading it if it is on this machine."""
    try:
        folder = Path(resolve(encoder))
    except ValueError as error:
        raise UsageError(f"--encoder {encoder} can't be used: {error}") from error
    if not folder.is_dir():
        folder = _snapshot(encoder)
    digest = hashlib.sha256()
    files = {file for pattern in _MODEL_FILES for file in folder.glob(pattern)}
    for file in sorted(files):
        digest.update(f"{file.name} {sha256(file)}\n".encode())
    return digest.hexdigest()


def _snapshot(name: str) -> Path:
    """Where the hub's cache has a model; it is downloaded if need be."""
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(name, "config.json")
    if not isinstance(config, str):
        from real_plugin.text.pretrained import load_encoder, load_tokenizer

        load_tokenizer(name), load_encoder(name)
        config = try_to_load_from_cache(name, "config.json")
    return Path(str(config)).parent


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES]


def _split(joined: bytes) -> list[bytes]:
    return [joined[i : i + _KEY_BYTES] for i in range(0, len(joined), _KEY_BYTES)]


def _place(
    out: Vectors, wanted: dict[bytes, list[int]], keys: list[bytes], block: Vectors
) -> None:
    """Copy a block's vectors to the rows that want them, which then want no more."""
    here = [(i, row) for i, key in enumerate(keys) for row in wanted.pop(key, ())]
    if here:
        sources, rows = np.array(here).T
        out[rows] = block[sources]


@contextmanager
def _notes_of_warnings(max_length: int) -> Iterator[None]:
    """What the encoder warns of inside is said, and that of long texts names our option."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        if "cut off" in message:
            say(f"  texts of more than {max_length} tokens are cut off (--max-length)")
        else:
            say(f"  {message}")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
