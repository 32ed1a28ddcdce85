"""Practise labelling with `real-plugin` on texts whose labels are known.

python examples/label_practice.py files     writes pool.csv, and its labels to answers.csv
python examples/label_practice.py answer batch.csv     fills in the labels of a batch
python examples/label_practice.py trial --train train.jsonl --test test.jsonl
    plays three rounds with several strategies and seeds, and prints the test accuracy
"""

import argparse
import csv
import json
import tempfile
from pathlib import Path

import docstrings
import numpy as np

from real_plugin.labeling import load_model
from real_plugin.labeling.cli import main as real_plugin


def write_files(folder: Path, n_rows: int) -> None:
    """Sentences of docstrings as a pool, and the packages they are from as the answers."""
    texts, packages = docstrings.load(n_rows)
    order = np.random.default_rng(0).permutation(len(texts))
    write_csv(folder / "pool.csv", [{"id": f"s{i}", "text": texts[i]} for i in order])
    answers = [{"id": f"s{i}", "label": packages[i]} for i in order]
    write_csv(folder / "answers.csv", answers)


def answer(batch: Path, answers: dict[str, str]) -> None:
    """Fill in the column `label` of a batch."""
    rows = read_csv(batch)
    write_csv(batch, [{**row, "label": answers[row["id"]]} for row in rows])


def trial(train: Path, test: Path, strategy: str, seed: int, n: int, rounds: int, cache: Path):
    """Test accuracy of the model after each round, in a project of its own."""
    texts, labels = read_jsonl(train)
    test_texts, test_labels = read_jsonl(test)
    accuracy = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_csv(folder / "pool.csv", [{"id": i, "text": text} for i, text in enumerate(texts)])
        answers = {str(i): label for i, label in enumerate(labels)}
        project = ["--project", str(folder / "project")]
        real_plugin(["init", project[1], "--pool", str(folder / "pool.csv")])
        batch = str(folder / "batch.csv")
        suggest = ["suggest", *project, "-n", str(n), "-o", batch, "--seed", str(seed)]
        suggest += ["--strategy", strategy, "--cache", str(cache)]
        real_plugin(suggest)
        for _ in range(rounds):
            answer(Path(batch), answers)
            real_plugin(["merge", batch, *project])
            real_plugin(suggest)  # trains on all labels so far
            predicted = load_model(folder / "project" / "model").predict(test_texts, cache)
            accuracy.append(np.mean([p == t for p, t in zip(predicted, test_labels, strict=True)]))
    return accuracy


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write_csv(file: Path, rows: list[dict]) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def read_jsonl(file: Path) -> tuple[list[str], list[str]]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    files = commands.add_parser("files")
    files.add_argument("--rows", type=int, default=600)
    commands.add_parser("answer").add_argument("batch", type=Path)
    play = commands.add_parser("trial")
    play.add_argument("--train", type=Path, required=True)
    play.add_argument("--test", type=Path, required=True)
    play.add_argument("--strategies", nargs="+", default=["real", "margin", "random"])
    play.add_argument("--seeds", type=int, default=10)
    play.add_argument("-n", type=int, default=100)
    play.add_argument("--rounds", type=int, default=3)
    play.add_argument("--cache", type=Path, default=Path(".cache/label-practice"))
    options = parser.parse_args(argv)
    if options.command == "files":
        write_files(Path(), options.rows)
    elif options.command == "answer":
        answers = {row["id"]: row["label"] for row in read_csv(Path("answers.csv"))}
        answer(options.batch, answers)
    else:
        settings = (options.n, options.rounds, options.cache)
        for strategy in options.strategies:
            runs = [
                trial(options.train, options.test, strategy, seed, *settings)
                for seed in range(options.seeds)
            ]
            mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1)
            cells = [f"{100 * m:.1f} ± {100 * s:.1f}" for m, s in zip(mean, spread, strict=True)]
            print(strategy, *cells, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
