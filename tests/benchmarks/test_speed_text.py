"""The benchmark on texts runs, compares like with like, and judges rightly."""

import json
import os

import numpy as np
import pytest

pytest.importorskip("skorch")
pytest.importorskip("transformers")

import torch

from benchmarks.__main__ import main
from benchmarks.data.docstrings import FEWEST_WORDS
from benchmarks.data.pydocs import PACKAGES
from benchmarks.speed import text, text_cases
from real_plugin.text import TransformerClassifier
from tests.tiny import topical_texts


@pytest.fixture(scope="module")
def classifier(tiny_roberta):
    texts, labels = topical_texts(60)
    made = TransformerClassifier(tiny_roberta, max_length=24, max_epochs=2, random_state=0)
    return made.set_params(precision="float32", progress=False).fit(texts, labels)


def as_lines(texts, labels):
    rows = zip(texts, labels, strict=True)
    return "\n".join(json.dumps({"text": t, "label": y}) for t, y in rows)


def make(rate, P):
    return text.Measurement(1.0, amount=rate, probabilities=np.array(P, dtype=np.float32))


def results(float32, bfloat16, P=((0.2, 0.8), (0.6, 0.4)), shift=0.0):
    """Rates relative to the published loop, whose batch of 32 is twice as fast as 512."""
    rates = dict(zip(text.SCORING, (10, 20, 10 * float32, 10 * bfloat16), strict=True))
    made = {name: make(rate, P) for name, rate in rates.items()}
    made["ours, float32"] = make(10 * float32, np.add(P, (shift, -shift)))
    return made


def test_docstrings_have_a_label_a_package():
    rows = text.docstrings(90)
    assert {label for _, label in rows} == set(PACKAGES)
    assert len(rows) == len(set(rows)) == 90
    for sentence, _ in rows:
        assert len(sentence.split()) >= FEWEST_WORDS
        assert "\n" not in sentence


def test_pool_and_training_texts_are_disjoint():
    rows = [(str(i), i % 2) for i in range(700)]
    training, pool = text.split(rows, 250)
    assert (len(training), len(pool)) == (text.N_TRAINING, 250)
    assert not set(training) & set(pool)
    assert text.split(rows, 250) == (training, pool)
    assert [len(part) for part in text.split(rows[:30], 250)] == [10, 20]


def test_a_line_without_label_is_named(tmp_path):
    file = tmp_path / "texts.jsonl"
    file.write_text('{"text": "a", "label": 1}\n{"text": "b"}\n')
    with pytest.raises(ValueError, match='line 2 has no column "label"'):
        text.read_texts(file)


@pytest.mark.parametrize("batch", [7, 512])
def test_published_loop_and_ours_agree(classifier, batch):
    texts, _ = topical_texts(50, seed=1)
    P, E = text_cases.published_scores(classifier, batch, texts)
    ours = text_cases.our_scores(classifier, texts)
    assert P.shape == (50, 3)
    assert np.ptp(P, axis=0).max() > 0.01  # it has learnt something to disagree about
    np.testing.assert_allclose(ours[0], P, atol=1e-5)
    np.testing.assert_allclose(ours[1], E, atol=1e-5)


def test_trainer_gets_loss_and_logits_of_the_same_network(classifier):
    ids = torch.tensor([[0, 7, 9, 2], [0, 5, 2, 1]])
    batch = {"input_ids": ids, "attention_mask": (ids != 1).long()}
    classifier.module_.eval()
    with torch.no_grad():
        answer = text_cases.ForTrainer(classifier.module_)(**batch, labels=torch.tensor([0, 2]))
        logits, _ = classifier.module_(**batch)
    assert torch.equal(answer["logits"], logits)
    expected = -torch.log_softmax(logits, dim=-1)[[0, 1], [0, 2]].mean()
    assert answer["loss"].item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize(
    ("value", "relation", "expected"),
    [
        (3, "at least", "reached"),
        (2.9, "at least", "MISSED"),
        (3, "at most", "reached"),
        (3.1, "at most", "MISSED"),
    ],
)
def test_verdict(value, relation, expected):
    assert text.verdict(value, relation, 3) == expected


@pytest.mark.parametrize(
    ("float32", "bfloat16", "shift", "expected"),
    [
        (1.6, 3.1, 0, ["reached", "reached", "reached", "reached"]),
        (1.4, 2.9, 0, ["MISSED", "reached", "MISSED", "reached"]),
        (1.6, 3.1, 1e-3, ["reached", "MISSED", "reached", "reached"]),
    ],
)
def test_targets(float32, bfloat16, shift, expected, capsys):
    text.print_targets(results(float32, bfloat16, shift=shift))
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == expected


def test_another_argmax_misses_the_target(capsys):
    measured = results(2, 4)
    measured["ours, bfloat16"] = make(40, [[0.2, 0.8], [0.4, 0.6]])
    text.print_targets(measured)
    assert "0.5   at least 0.995: MISSED" in capsys.readouterr().out


def test_ratios_are_to_both_published_loops(capsys):
    text.print_scoring(results(3, 6))
    rows = {line[2:26].strip(): line[26:].split() for line in capsys.readouterr().out.splitlines()}
    assert rows["published, batch 512"][:3] == ["10.0", "1.00", "0.50"]
    assert rows["ours, bfloat16"][:3] == ["60.0", "6.00", "3.00"]


def test_processor_without_bfloat16(capsys):
    measured = results(2, 4)
    del measured["ours, bfloat16"]
    text.print_scoring(measured)
    text.print_targets(measured)
    printed = capsys.readouterr().out
    assert "ours, bfloat16            not on this processor" in printed
    assert "bfloat16: " not in printed


def test_best_run_counts_but_memory_is_the_first_runs():
    runs = [text.Measurement(s, extra_bytes=e) for s, e in ((3, 50), (1, 0), (2, 9))]
    assert text._best(runs) == text.Measurement(1, extra_bytes=50)


def test_flops_are_those_that_torch_counts(classifier):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    config = classifier.module_.encoder.config
    linear = [
        sum(m.weight.numel() for m in part.modules() if isinstance(m, torch.nn.Linear))
        for part in (classifier.module_.encoder, classifier.module_.head)
    ]
    facts = text.Facts([], *linear, config.hidden_size, config.num_hidden_layers, False)
    ids = torch.full((3, 11), 5)
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter, sdpa_kernel(SDPBackend.MATH):  # it counts no other backend
        classifier.module_(input_ids=ids, attention_mask=torch.ones_like(ids))
    assert facts.flops([(3, 11)]) == counter.get_total_flops()


def test_the_whole_command(tiny_roberta, tmp_path, capsys, monkeypatch):
    for variable in (*text.THREAD_VARIABLES, "RAYON_NUM_THREADS"):
        monkeypatch.setenv(variable, os.environ.get(variable, "1"))  # restored afterwards
    file = tmp_path / "topics.jsonl"
    file.write_text(as_lines(*topical_texts(60)))
    command = ["speed", "--only", "texts", "--encoder", str(tiny_roberta), "--texts", str(file)]
    command += ["--limit", "30", "--max-length", "24", "--threads", "1", "--repeat", "1"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "trained on 20 texts" in printed
    assert "a pool of 30 others" in printed
    for name in text.SCORING:
        assert printed.count(name) == 2  # its speed, and its arithmetic
    for name in text.TRAINING + text.PEAKS:
        assert name in printed
    assert printed.count("reached") + printed.count("MISSED") in (2, 4)
    assert "float32: largest difference" in printed
