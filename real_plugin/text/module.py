"""The network: an encoder, and RoBERTa's classification head on its [CLS] vector."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class TransformerModule(nn.Module):
    """Gives logits and the encoder's raw [CLS] vector in one pass.

    Parameters
    ----------
    encoder : transformers.PreTrainedModel
        A Hugging Face encoder.
    n_classes : int
        Outputs of the head.
    """

    def __init__(self, encoder: Any, n_classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.n_classes = n_classes
        config = encoder.config
        width = config.hidden_size
        rate = getattr(config, "hidden_dropout_prob", getattr(config, "dropout", 0.1))
        self.head = nn.Sequential(
            nn.Dropout(rate),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Dropout(rate),
            nn.Linear(width, n_classes),
        )
        for layer in self.head:
            if isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, std=getattr(config, "initializer_range", 0.02))
                nn.init.zeros_(layer.bias)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        output = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
        cls = output.last_hidden_state[:, 0]
        with torch.autocast(cls.device.type, enabled=False):  # the head is small: keep it exact
            return self.head(cls.float()), cls
