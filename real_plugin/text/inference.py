"""Scoring a pool fast: one pass, batches of like length, memory that doesn't grow."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from real_plugin.text.progress import progress_bar
from real_plugin.text.tokens import Tokens, batches_by_length, pad

#: Texts that are tokenised at a time; more hardly make the batches more even.
BLOCK = 4096
#: Tokens a forward pass, padding included: about where a processor's caches end, and
#: enough to fill a GPU.
TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 32_768}
#: A pool of fewer texts shows no progress bar.
LONG_POOL = 5_000


def scores(
    module: torch.nn.Module,
    tokens: Tokens,
    X: Any,
    receive: Callable[[NDArray[np.intp], torch.Tensor, torch.Tensor], None],
    *,
    precision: str,
    tokens_per_batch: int | None,
    progress: bool | str,
) -> None:
    """Pass every text through `module` once; `receive` gets (rows, logits, [CLS])."""
    device = next(module.parameters()).device
    budget = tokens_per_batch or TOKENS_PER_BATCH.get(device.type, TOKENS_PER_BATCH["cpu"])
    bar = progress_bar(len(X), "scoring", "texts", progress, LONG_POOL)
    with torch.inference_mode(), autocast(device, precision), bar:
        for start in range(0, len(X), BLOCK):
            ids = tokens(X, start, min(start + BLOCK, len(X)))
            waiting = list(batches_by_length(ids, budget))[::-1]
            while waiting:
                rows = waiting.pop()
                batch = pad([ids[row] for row in rows], tokens.tokenizer.pad_token_id)
                try:
                    logits, cls = module(**{key: v.to(device) for key, v in batch.items()})
                except torch.cuda.OutOfMemoryError:
                    if len(rows) == 1:
                        raise
                    torch.cuda.empty_cache()
                    budget //= 2
                    rest = np.concatenate([rows, *waiting[::-1]])
                    smaller = batches_by_length([ids[row] for row in rest], budget)
                    waiting = [rest[positions] for positions in smaller][::-1]
                    continue
                receive(start + rows, logits, cls)
                bar.update(len(rows))


def probabilities_and_embeddings(
    module: torch.nn.Module,
    tokens: Tokens,
    X: Any,
    n_classes: int,
    embeddings: Any = None,
    **options: Any,
) -> NDArray[np.float32]:
    """Probabilities of texts; their [CLS] vectors are written to `embeddings` on the way."""
    P = np.empty((len(X), n_classes), dtype=np.float32)

    def receive(rows: NDArray[np.intp], logits: torch.Tensor, cls: torch.Tensor) -> None:
        P[rows] = torch.softmax(logits.float(), dim=-1).cpu().numpy()
        if embeddings is not None:
            embeddings[rows] = cls.float().cpu().numpy()

    scores(module, tokens, X, receive, **options)
    return P


def autocast(device: torch.device, precision: str) -> Any:
    """The matrix products in bfloat16 if asked for, or if "auto" and the device is made for it."""
    use = precision == "bfloat16" or (precision == "auto" and has_bfloat16(device))
    return torch.autocast(device.type, torch.bfloat16, enabled=use)


def has_bfloat16(device: torch.device) -> bool:
    """Whether bfloat16 is faster than float32 there, not only possible."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu" or not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return False
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True
    # With any AVX-512 it is "supported", but then three times slower than float32.
    has_instructions = getattr(torch.cpu, "_is_avx512_bf16_supported", None)  # not in old torch
    return has_instructions is not None and bool(has_instructions())
