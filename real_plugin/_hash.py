"""One hash for texts in their order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def text_sha256(texts: Sequence[str]) -> str:
    """A hash of texts, and of where each of them ends."""
    digest = hashlib.sha256()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()
