import json
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("skorch")
pytest.importorskip("transformers")
pytest.importorskip("skactiveml")

from benchmarks.__main__ import main
from tests.tiny import topical_texts

SIZES = {"train": 160, "validation": 30, "test": 60}


def write_jsonl(file, texts, labels):
    rows = zip(texts, labels, strict=True)
    lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def topics(tmp_path_factory):
    """Folder of a small dataset of one's own."""
    folder = tmp_path_factory.mktemp("data") / "topics"
    folder.mkdir()
    for seed, (part, size) in enumerate(SIZES.items()):
        write_jsonl(folder / f"{part}.jsonl", *topical_texts(size, seed=seed))
    return folder


@pytest.fixture(scope="session")
def encodings(tmp_path_factory):
    """A cache that the tests share."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def command(topics, tiny_roberta, encodings):
    """Builds the command line of a small run."""

    def build(out, *more, strategy=("real", "random"), track="frozen", seeds="1", jobs="1"):
        return [
            *("run", "--out", str(out), "--dataset", str(topics), "--track", track),
            *("--strategy", *strategy, "--seeds", seeds, "--jobs", jobs),
            *("--encoder", str(tiny_roberta), "--cache", str(encodings)),
            *("--warm-up", "10", "--batch-size", "12", "--rounds", "3", "--max-length", "16"),
            *more,
        ]

    return build


@pytest.fixture
def run(command):
    """Runs it, and returns the exit code."""
    return lambda out, *more, **options: main(command(out, *more, **options))


def heed_interrupts():
    """A shell lets what it starts in the background ignore them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def start():
    """Starts `python -m benchmarks` in a process of its own, which ends with the test."""
    processes = []

    def start(line, preexec_fn=heed_interrupts, **options):
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks", *line],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            preexec_fn=preexec_fn,
            **options,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()
