import csv
import json

import pytest

pytest.importorskip("skorch")
pytest.importorskip("filelock")
pytest.importorskip("openpyxl")
pytest.importorskip("statsmodels")

from real_plugin.labeling import tables
from real_plugin.labeling.cli import main
from tests.tiny import topical_texts

N_ROWS = 240


def write_csv(file, rows):
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def read_csv(file):
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="session", autouse=True)
def no_pauses():
    """Files that the tests write are read at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "PAUSE", 0)
        yield


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    """A cache of vectors that the tests share."""
    return tmp_path_factory.mktemp("vectors")


@pytest.fixture
def place(tmp_path, monkeypatch, vectors):
    """An empty current folder, and the user's cache elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REAL_PLUGIN_CACHE", str(vectors))
    return tmp_path


@pytest.fixture
def truth():
    texts, labels = topical_texts(N_ROWS)
    return {
        f"t{i}": (text, label) for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    }


@pytest.fixture
def pool(place, truth):
    rows = [{"id": key, "text": text} for key, (text, _) in truth.items()]
    return write_csv(place / "pool.csv", rows)


@pytest.fixture
def labels(place, truth):
    """A file with the labels of every tenth row."""
    rows = [{"id": key, "label": truth[key][1]} for key in list(truth)[::10]]
    return write_csv(place / "labels.csv", rows)


@pytest.fixture
def run(capsys, tiny_roberta):
    """Runs the command; its exit code, what it said, and stdout."""

    def run(*arguments):
        arguments = [str(argument) for argument in arguments]
        if arguments[0] == "init" or (arguments[0] == "suggest" and "--project" not in arguments):
            arguments += ["--encoder", str(tiny_roberta), "--max-length", "32"]
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.err, captured.out

    return run


@pytest.fixture
def project(run, pool, place):
    assert run("init", "project", "--pool", pool)[0] == 0
    return place / "project"


@pytest.fixture
def answer(truth):
    """Fills in the labels of a batch."""

    def answer(file):
        rows = read_csv(file)
        write_csv(file, [{**row, "label": truth[row["id"]][1]} for row in rows])

    return answer


@pytest.fixture
def rounds(run, project, answer, place):
    """Plays rounds of a project: suggest, label, merge."""

    def rounds(count, n=15):
        for _ in range(count):
            batch = place / "batch.csv"
            assert run("suggest", "--project", project, "-n", n, "-o", batch)[0] == 0
            answer(batch)
            assert run("merge", batch, "--project", project)[0] == 0
        return project

    return rounds


def journal(project):
    """Ids and labels of a project's journal, file by file."""
    files = sorted((project / "labels").glob("*.json"))
    return [
        {entry["id"]: entry["label"] for entry in json.loads(file.read_text())["labels"]}
        for file in files
    ]
