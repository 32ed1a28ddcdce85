"""What is measured on texts: a case takes a job and returns a function that prepares a run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from benchmarks.speed.text import Facts, Job
from real_plugin.text import TransformerClassifier
from real_plugin.text.inference import has_bfloat16
from real_plugin.text.labels import encode, find_classes

LEARNING_RATE = 5e-5
EPOCHS = 3
#: Of the measured trainings.
BATCH, STEPS, WARM_UP_STEPS = 8, 40, 4
#: Rows and columns of the matrices that show the machine's peak.
MATRIX = 4096
#: Texts, or texts of a training, that warm a process up.
N_WARM = 16

Scores = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True)
class Done:
    """What a run did."""

    amount: float  #: texts, or floating point operations
    probabilities: NDArray[np.float32] | None = None
    shapes: tuple[tuple[int, int], ...] = ()  #: (texts, tokens a text) of every forward pass


Work = Callable[[], Done]


def prepare(job: Job) -> Facts:
    """Train the classifier that all cases score with, and save it."""
    (pool, pool_labels), (texts, labels) = job.read("pool"), job.read("training")
    classifier = TransformerClassifier(
        job.encoder,
        classes=find_classes(labels + pool_labels),
        max_length=job.max_length,
        max_epochs=EPOCHS,
        lr=LEARNING_RATE,
        random_state=0,
        progress=False,
    ).fit(texts, labels)
    classifier.save(job.classifier)
    encoder, config = classifier.module_.encoder, classifier.module_.encoder.config
    embeddings = [m.weight.numel() for m in encoder.modules() if isinstance(m, nn.Embedding)]
    return Facts(
        lengths=[len(ids) for ids in classifier.tokens_(pool)],
        per_token=sum(p.numel() for p in encoder.parameters()) - sum(embeddings),
        per_text=sum(p.numel() for p in classifier.module_.head.parameters()),
        width=config.hidden_size,
        layers=config.num_hidden_layers,
        has_bfloat16=has_bfloat16(torch.device("cpu")),
    )


# Scoring


def published_scores(classifier: TransformerClassifier, batch: int, texts: list[str]) -> Scores:
    """The published loop: all texts padded to the full length, batches in their order."""
    module = classifier.module_.eval()
    encoded = classifier.tokens_.tokenizer(
        texts,
        padding="max_length",
        truncation=True,
        max_length=classifier.max_length,
        return_tensors="pt",
    )
    data = torch.utils.data.TensorDataset(encoded["input_ids"], encoded["attention_mask"])
    probabilities, vectors = [], []
    with torch.no_grad():
        for ids, mask in torch.utils.data.DataLoader(data, batch_size=batch):
            logits, cls = module(input_ids=ids, attention_mask=mask)
            probabilities.append(torch.softmax(logits, dim=-1))
            vectors.append(cls.clone())  # a view would keep the whole layer
    return torch.cat(probabilities).numpy(), torch.cat(vectors).numpy()


def our_scores(classifier: TransformerClassifier, texts: list[str]) -> Scores:
    """The plugin's way."""
    scores: Scores = classifier.predict_proba(texts, return_embeddings=True)
    return scores


def published(batch: int) -> Callable[[Job], Callable[[], Work]]:
    def case(job: Job) -> Callable[[], Work]:
        classifier = TransformerClassifier.load(job.classifier, progress=False)
        return _scoring(job, classifier, partial(published_scores, classifier, batch))

    return case


def ours(precision: str) -> Callable[[Job], Callable[[], Work]]:
    def case(job: Job) -> Callable[[], Work]:
        classifier = TransformerClassifier.load(
            job.classifier, precision=precision, progress=False
        )
        return _scoring(job, classifier, partial(our_scores, classifier))

    return case


def _scoring(
    job: Job, classifier: TransformerClassifier, score: Callable[[list[str]], Scores]
) -> Callable[[], Work]:
    texts, _ = job.read("pool")
    shapes: list[tuple[int, int]] = []
    classifier.module_.register_forward_pre_hook(
        lambda _, args, kwargs: shapes.append(tuple(kwargs["input_ids"].shape)), with_kwargs=True
    )
    score(texts[:N_WARM])

    def work() -> Done:
        shapes.clear()
        probabilities, _ = score(texts)
        return Done(len(texts), probabilities, tuple(shapes))

    return lambda: work


# Training


def _training_data(job: Job) -> list[list[Any]]:
    """As many texts as the steps take, some of them more than once if there are too few."""
    texts, labels = job.read("pool")
    return [list(islice(cycle(column), BATCH * STEPS)) for column in (texts, labels)]


def fit(precision: str) -> Callable[[Job], Callable[[], Work]]:
    """One epoch of `TransformerClassifier.fit`, tokenising included."""

    def case(job: Job) -> Callable[[], Work]:
        texts, labels = _training_data(job)
        classifier = TransformerClassifier.load(
            job.classifier,
            lr=LEARNING_RATE,
            batch_size=BATCH,
            later_epochs=1,
            training_precision=precision,
            random_state=0,
            progress=False,
        )
        classifier.fit(texts[:N_WARM], labels[:N_WARM])

        def work() -> Done:
            classifier.fit(texts, labels)
            return Done(len(texts))

        return lambda: work

    return case


class ForTrainer(nn.Module):
    """The same network with the answer that `transformers.Trainer` expects."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        logits, _ = self.module(input_ids=input_ids, attention_mask=attention_mask)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def trainer(job: Job) -> Callable[[], Work]:
    """One epoch of `transformers.Trainer` on texts that are tokenised already."""
    texts, labels = _training_data(job)
    classifier = TransformerClassifier.load(job.classifier)
    encoded = classifier.tokens_.tokenizer(texts, truncation=True, max_length=job.max_length)
    numbers = encode(labels, classifier.classes_.tolist()).tolist()
    rows = [
        {"input_ids": ids, "attention_mask": mask, "labels": number}
        for ids, mask, number in zip(
            encoded["input_ids"], encoded["attention_mask"], numbers, strict=True
        )
    ]
    network = ForTrainer(classifier.module_)
    with redirect_stdout(None):
        _new_trainer(network, classifier, rows[:N_WARM]).train()

    def ready() -> Work:
        loop = _new_trainer(network, classifier, rows)

        def work() -> Done:
            with redirect_stdout(None):  # it prints a summary
                loop.train()
            return Done(len(rows))

        return work

    return ready


def _new_trainer(network: nn.Module, classifier: TransformerClassifier, rows: list[Any]) -> Any:
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

    arguments = TrainingArguments(
        output_dir=tempfile.gettempdir(),
        num_train_epochs=1,
        per_device_train_batch_size=BATCH,
        learning_rate=LEARNING_RATE,
        lr_scheduler_type="linear",
        warmup_steps=WARM_UP_STEPS,
        weight_decay=classifier.optimizer__weight_decay,
        max_grad_norm=classifier.gradient_clip,
        optim="adamw_torch_fused",
        eval_strategy="no",
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        remove_unused_columns=False,
        use_cpu=True,
        seed=0,
    )
    collator = DataCollatorWithPadding(classifier.tokens_.tokenizer)
    return Trainer(network, arguments, train_dataset=rows, data_collator=collator)


# The machine


def matmul(dtype: torch.dtype) -> Callable[[Job], Callable[[], Work]]:
    """The product of two large matrices."""

    def case(_: Job) -> Callable[[], Work]:
        one, other = (torch.randn(MATRIX, MATRIX).to(dtype) for _ in range(2))
        torch.mm(one[:N_WARM], other)

        def work() -> Done:
            torch.mm(one, other)
            return Done(2.0 * MATRIX**3)

        return lambda: work

    return case


CASES: dict[str, Callable[[Job], Callable[[], Work]]] = {
    "published, batch 512": published(512),
    "published, batch 32": published(32),
    "ours, float32": ours("float32"),
    "ours, bfloat16": ours("bfloat16"),
    "TransformerClassifier.fit": fit("float32"),
    "the same in bfloat16": fit("bfloat16"),
    "transformers.Trainer": trainer,
    "matmul float32": matmul(torch.float32),
    "matmul bfloat16": matmul(torch.bfloat16),
}
