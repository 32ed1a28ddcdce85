"""Practise labelling with `real-plugin` on texts whose labels are known.

python examples/label_practice.py files     writes pool.csv, and its labels to answers.csv
python examples/label_practice.py answer batch.csv     fills in the labels of a batch
python examples/label_practice.py trial --train train.jsonl --test test.jsonl
    plays three rounds with several strategies and seeds; prints the test accuracy after each,
    and how well the accuracy on the rest of the pool was estimated at the end
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
    """Test accuracy after each round; then accuracy on the rest of the pool, said and true."""
    texts, labels = read_jsonl(train)
    test_texts, test_labels = read_jsonl(test)
    on_test = []
    with tempfile.TemporaryDirectory() as name:
        folder, project = Path(name), Path(name) / "project"
        write_csv(folder / "pool.csv", [{"id": i, "text": text} for i, text in enumerate(texts)])
        answers = {str(i): label for i, label in enumerate(labels)}
        real_plugin(["init", str(project), "--pool", str(folder / "pool.csv")])
        batch = folder / "batch.csv"
        suggest = ["suggest", "--project", str(project), "-n", str(n), "-o", str(batch)]
        suggest += ["--seed", str(seed), "--strategy", strategy, "--cache", str(cache)]
        real_plugin(suggest)
        for _ in range(rounds):
            answer(batch, answers)
            real_plugin(["merge", str(batch), "--project", str(project)])
            real_plugin(suggest)  # trains on all labels so far
            predicted = load_model(project / "model").predict(test_texts, cache)
            on_test.append(accuracy(predicted, test_labels))
        real_plugin(["labels", "--project", str(project), "-o", str(folder / "labels.csv")])
        labelled = {int(row["id"]) for row in read_csv(folder / "labels.csv")}
        rest = [i for i in range(len(texts)) if i not in labelled]
        predicted = load_model(project / "model").predict([texts[i] for i in rest], cache)
        last = read_csv(project / "curve.csv")[-1]
    said = [float(last["accuracy_on_labels"]), float(last["accuracy_on_pool"])]
    return on_test, [*said, accuracy(predicted, [labels[i] for i in rest])]


def accuracy(predicted: list[str], true: list[str]) -> float:
    return float(np.mean([p == t for p, t in zip(predicted, true, strict=True)]))


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
    files.add_argument("--rows", type=int, default=300)
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
            on_test, at_the_end = (np.array(part) for part in zip(*runs, strict=True))
            print(strategy, *map(in_percent, on_test.T), sep=" | ")
            names = ("cross-validation on the labels", "estimated for the pool", "true")
            for name, values in zip(names, at_the_end.T, strict=True):
                print(f"  {name}: {in_percent(values)}", flush=True)


def in_percent(values: np.ndarray) -> str:
    """Mean and standard deviation over the seeds."""
    return f"{100 * values.mean():.1f} ± {100 * values.std(ddof=1):.1f}"


if __name__ == "__main__":
    main()
