"""Training the embeddings of the tokens that occur, instead of the whole vocabulary's.

A dense gradient of the embedding table is much of the work of a small batch on a processor:
in a RoBERTa of 30M parameters the table has 19M, of which a round of training uses a few
thousand rows. The others have no gradient, so they stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


class TrainedRows(nn.Module):
    """An embedding table of which only the rows of `tokens` are parameters.

    With gradients it knows these tokens only; without, as in a validation, all of them. Its
    state dict is that of the whole table.
    """

    def __init__(self, table: nn.Embedding, tokens: Iterable[int]) -> None:
        super().__init__()
        device = table.weight.device
        self._table = (table,)  # in a tuple, torch doesn't take it for a part of this module
        padding = set() if table.padding_idx is None else {table.padding_idx}
        self.tokens = torch.tensor(sorted({*tokens} | padding), device=device)
        self.row_of = torch.full((table.num_embeddings,), -1, device=device)
        self.row_of[self.tokens] = torch.arange(len(self.tokens), device=device)
        self.padding_row = int(self.row_of[table.padding_idx]) if padding else None
        self.weight = nn.Parameter(table.weight.detach()[self.tokens])

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled():
            rows = self.row_of[input_ids]
            return nn.functional.embedding(rows, self.weight, self.padding_row)
        return nn.functional.embedding(input_ids, self.updated_table().weight)

    def updated_table(self) -> nn.Embedding:
        """The whole table, with the rows as they are now."""
        (table,) = self._table
        with torch.no_grad():
            table.weight[self.tokens] = self.weight
        return table

    def _save_to_state_dict(self, *args: Any) -> None:
        self.updated_table()._save_to_state_dict(*args)

    def _load_from_state_dict(self, *args: Any) -> None:
        (table,) = self._table
        table._load_from_state_dict(*args)
        with torch.no_grad():
            self.weight.copy_(table.weight[self.tokens])


@contextmanager
def only_rows_of(tokens: Iterable[int], encoder: Any) -> Iterator[None]:
    """Inside, training `encoder` trains the embeddings of `tokens` alone.

    A table of another kind, a frozen one, and one that the encoder also uses elsewhere are
    left as they are.
    """
    table = _plain_table(encoder)
    if table is None:
        yield
        return
    rows = TrainedRows(table, tokens)
    encoder.set_input_embeddings(rows)
    try:
        yield
    finally:
        table = rows.updated_table()
        table.weight.requires_grad_(rows.weight.requires_grad)  # a callback may have frozen it
        encoder.set_input_embeddings(table)


def _plain_table(encoder: Any) -> nn.Embedding | None:
    try:
        table = encoder.get_input_embeddings()
    except NotImplementedError:  # transformers' word for an encoder that has none
        return None
    if type(table) is not nn.Embedding or not table.weight.requires_grad:
        return None
    parameters = encoder.named_parameters(remove_duplicate=False)
    uses = [name for name, parameter in parameters if parameter is table.weight]
    return table if len(uses) == 1 else None
