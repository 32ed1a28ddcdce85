"""A trained classifier as a directory: safetensors, tokenizer files and JSON, no pickle.

The encoder and the tokenizer are stored in the Hugging Face layout, so the directory also
serves as ``model=`` of a new classifier, or for `transformers` itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file, save_file

from real_plugin._models import sha256
from real_plugin.text.pretrained import quiet

if TYPE_CHECKING:
    from real_plugin.text.classifier import TransformerClassifier

MANIFEST = "real_plugin.json"
HEAD = "head.safetensors"
FORMAT = 1
#: Of the files that make up a classifier; others in the directory are left alone.
SUFFIXES = (".json", ".safetensors", ".txt", ".model")
#: Parameters that a directory remembers; the rest is skorch's, and code.
PARAMETERS = (
    "max_length",
    "max_epochs",
    "later_epochs",
    "lr",
    "batch_size",
    "gradient_clip",
    "validations_per_epoch",
    "precision",
    "training_precision",
    "tokens_per_batch",
    "warm_start",
)


def save(classifier: TransformerClassifier, directory: Path) -> None:
    """Write `classifier` to `directory`; the manifest comes last and completes it."""
    classes = classifier.classes_.tolist()
    for label in classes:
        if not isinstance(label, str | int | float | bool):
            raise TypeError(
                f"the class {label!r} is a {type(label).__name__}; JSON keeps classes that are "
                "str, int, float or bool. Train with such labels to save the classifier."
            )
    directory.mkdir(parents=True, exist_ok=True)
    (directory / MANIFEST).unlink(missing_ok=True)
    with quiet():
        classifier.module_.encoder.save_pretrained(directory)
        classifier.tokens_.tokenizer.save_pretrained(directory)
    head = {k: v.contiguous().cpu() for k, v in classifier.module_.head.state_dict().items()}
    save_file(head, directory / HEAD)
    files = [file for file in sorted(directory.iterdir()) if file.suffix in SUFFIXES]
    manifest = {
        "format": FORMAT,
        "classes": classes,
        "rounds": classifier.rounds_,
        "parameters": {name: getattr(classifier, name) for name in PARAMETERS},
        "sha256": {file.name: sha256(file) for file in files},
    }
    temporary = directory / f"{MANIFEST}.part"
    temporary.write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    temporary.replace(directory / MANIFEST)


def load(
    cls: type[TransformerClassifier], directory: Path, changes: dict[str, Any]
) -> TransformerClassifier:
    """Read and check what `save` wrote."""
    manifest = read_manifest(directory)
    for name, digest in manifest["sha256"].items():
        file = directory / name
        if not file.is_file():
            raise ValueError(f"{directory} is incomplete: {name} is missing. Save it again.")
        if sha256(file) != digest:
            raise ValueError(
                f"{file} is not what was saved there (truncated or changed). Restore it from a "
                "copy, or save the classifier again."
            )
    parameters = {**manifest["parameters"], "classes": manifest["classes"], **changes}
    classifier = cls(model=str(directory), **parameters)
    classifier.initialize()
    head = load_file(directory / HEAD, device=str(torch.device(classifier.device)))
    classifier.module_.head.load_state_dict(head)
    classifier.rounds_ = manifest["rounds"]
    return classifier


def read_manifest(directory: Path) -> dict[str, Any]:
    """What a saved directory says about itself, or an error if it is none."""
    file = directory / MANIFEST
    if not file.is_file():
        raise ValueError(
            f"{directory} has no {MANIFEST}: it is no saved TransformerClassifier, or saving it "
            "was interrupted. Give a directory that save() wrote; a plain Hugging Face folder "
            "goes into TransformerClassifier(model=...)."
        )
    try:
        manifest: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        known = {"format", "classes", "rounds", "parameters", "sha256"} <= manifest.keys()
    except (ValueError, AttributeError):
        known = False
    if not known:
        raise ValueError(f"{file} is not valid; restore it from a copy, or save again.")
    if manifest["format"] != FORMAT:
        raise ValueError(
            f"{file} has format {manifest['format']}, this version reads format {FORMAT}; load it "
            "with the version of real_plugin that saved it."
        )
    return manifest
