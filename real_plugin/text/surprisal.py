"""Surprisal under a masked language model, the representation of ALPS.

M. Yuan, H.-T. Lin, J. Boyd-Graber. Cold-start Active Learning through Self-supervised
Language Modeling. EMNLP 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from real_plugin.text.inference import scores
from real_plugin.text.tokens import Tokens


def surprisal(
    network: torch.nn.Module,
    tokens: Tokens,
    X: Any,
    mlm_probability: float,
    seed: int,
    **options: Any,
) -> NDArray[np.float32]:
    """One row a text: cross entropy at sampled positions, 0 elsewhere, of unit length."""
    if not 0 < mlm_probability <= 1:
        raise ValueError(f"mlm_probability is {mlm_probability}; it must lie in (0, 1].")
    vectors = np.zeros((len(X), tokens.max_length), dtype=np.float32)

    def receive(rows: NDArray[np.intp], losses: torch.Tensor, _: torch.Tensor) -> None:
        vectors[rows, : losses.shape[1]] = losses.float().cpu().numpy()

    scores(_TokenLosses(network), tokens, X, receive, **options)
    # Every row draws its positions by its own numbers, whatever batch it came in.
    keep = np.random.default_rng(seed).random(vectors.shape) < mlm_probability
    vectors[~keep] = 0
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(norms > 0, norms, 1)
    return vectors


class _TokenLosses(torch.nn.Module):
    """Cross entropy of every token but the special ones, given the whole unmasked text."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network.eval()

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.network(input_ids=input_ids, attention_mask=attention_mask).logits
        losses = torch.nn.functional.cross_entropy(
            logits.float().transpose(1, 2), input_ids, reduction="none"
        )
        losses = losses * attention_mask
        losses[:, 0] = 0  # <s>
        last = attention_mask.sum(dim=1, keepdim=True) - 1
        losses.scatter_(1, last, 0.0)  # </s>
        return losses, losses
