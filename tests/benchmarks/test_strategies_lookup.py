"""Names, options, users' functions, installed ones, and every message on the way."""

import hashlib
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from benchmarks.errors import UsageError
from benchmarks.strategies import BUILT_IN, Picks, Strategy, StrategyError, find, listing, options
from tests.benchmarks.learners import generator_states, make_learner

MY_FILE = """
from dataclasses import dataclass
import random
import numpy as np

@dataclass
class Setting:
    shift: int

def first(learner, X_pool, n_instances=1, shift=0):
    return np.arange(n_instances) + Setting(shift).shift

def by_python(learner, X_pool, n_instances=1):
    return random.sample(range(len(X_pool)), n_instances), None

def by_numpy(learner, X_pool, n_instances):
    return np.random.permutation(len(X_pool))[:n_instances]

def by_seed(learner, X_pool, n_instances=1, *, random_state=None):
    assert isinstance(random_state, int)
    return np.random.default_rng(random_state).permutation(len(X_pool))[:n_instances]

def by_kwargs(learner, X_pool, n_instances=1, **kwargs):
    learner.predict_proba(X_pool, **kwargs)  # as modAL's own do
    return by_numpy(learner, X_pool, n_instances)

def no_batch(learner, X_pool):
    return [0]

number = 3
"""


@pytest.fixture
def my_file(tmp_path):
    file = tmp_path / "my.py"
    file.write_text(MY_FILE)
    return file


def message(name):
    with pytest.raises(UsageError) as caught:
        find(name)
    return str(caught.value)


# Names and options


@pytest.mark.parametrize("name", BUILT_IN)
def test_listed_names_are_canonical(name):
    strategy = find(name)
    assert strategy.name == name
    assert strategy.fingerprint == ""


def test_options_are_parsed_and_sorted():
    strategy = find(" real@shortfall=cluster,n_clusters=50 ")
    assert strategy.options == {"n_clusters": 50, "shortfall": "cluster"}
    assert strategy.name == "real@n_clusters=50,shortfall=cluster"
    assert find(strategy.name).options == strategy.options


def test_strategies_can_be_compared_and_kept_in_sets():
    assert find("cal@k=3") == find("cal@k=3") != find("cal@k=4")
    assert len({find("cal"), find("cal"), find("badge")}) == 2


def test_values_may_have_commas():
    name = 'skactiveml:Clue@cluster_algo_dict={"n_init": 1, "max_iter": 9},method=entropy'
    expected = {"cluster_algo_dict": {"n_init": 1, "max_iter": 9}, "method": "entropy"}
    assert options.split(name)[1] == expected


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_][a-z_0-9]*", fullmatch=True),
        st.one_of(
            st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False),
            st.text("abc 0123456789.,@\"'{}[]:"), st.lists(st.integers()),
        ),
    )
)  # fmt: skip
def test_names_find_the_same_options_again(values):
    name = options.join("some/file.py:f", values)
    assert options.split(name) == ("some/file.py:f", values)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("rael", ["There is no strategy 'rael'", "Did you mean real?", "list strategies"]),
        ("REAL", ["Did you mean real"]),
        ("real-pol@n_clusters=3", ["'real-pol@n_clusters=3'", "Did you mean real-pool"]),
        ("skactiveml:Bagde", ["Did you mean skactiveml:Badge"]),
        ("modal:margin", ["modal:margin_sampling"]),
        ("badge@", ["Did you mean badge or", "Options are written name@key=value,key=value."]),
        ("no_such_module:f", ["There is no strategy 'no_such_module:f'", "path/to/file.py"]),
        ("benchmarks.no_such:f", ["There is no strategy 'benchmarks.no_such:f'"]),
        ("", ["There is no strategy ''"]),
        (":f", ["There is no strategy ':f'"]),
        ("skactiveml:", ["There is no strategy 'skactiveml:'"]),
        ("real@k=1", ["real has no option 'k'; it takes n_clusters, residual, shortfall."]),
        ("random@k=1", ["random has no option 'k'; it takes none."]),
        ("random@random_state=1", ["random_state is no option of random: every run passes it itself."]),
        ("cal@k=1,k=2", ["the option k twice"]),
        ("real@n_clusters=0", ["n_clusters is 0; give an integer of at least 1"]),
        ("real@residual=other", ["residual is 'other'; it must be one of 'paper', 'density'"]),
        ("cal@k=0", ["k is 0; it must be a whole number, 1 or more."]),
        ("cal@k=true", ["k is True; it must be a whole number"]),
        ("bald@n_passes=ten", ["n_passes is 'ten'; it must be a whole number"]),
        ("actune@n_clusters=2.5", ["n_clusters is 2.5; it must be a whole number"]),
        ("actune@beta=-1", ["beta is -1; it must be a number, 0 or more."]),
    ],
)  # fmt: skip
def test_mistakes_are_explained(name, parts):
    for part in parts:
        assert part in message(name)


def test_listing_is_a_table_of_all():
    lines = listing().splitlines()
    assert [line.split("  ")[0] for line in lines[: len(BUILT_IN)]] == list(BUILT_IN)
    column = max(map(len, BUILT_IN)) + 2
    for line, (name, description) in zip(lines, BUILT_IN.items(), strict=False):
        assert line[:column].strip() == name
        assert line[column:] == description
    assert "path/to/file.py:function" in listing()


# Files and modules


def test_a_function_of_a_file(my_file):
    learner = make_learner()
    strategy = find(f"{my_file}:first@shift=5")
    assert strategy.fingerprint == hashlib.sha256(MY_FILE.encode()).hexdigest()
    assert strategy.name == f"{my_file}:first@shift=5"
    assert_array_equal(strategy.query(learner, learner.X_pool, 3, 0).indices, [5, 6, 7])


def test_a_changed_file_is_another_strategy(my_file):
    learner = make_learner()
    before = find(f"{my_file}:first")
    my_file.write_text(MY_FILE.replace("shift=0", "shift=9"))
    after = find(f"{my_file}:first")
    assert before.fingerprint != after.fingerprint
    assert_array_equal(after.query(learner, learner.X_pool, 2, 0).indices, [9, 10])


def test_a_relative_path_has_one_spelling(my_file, monkeypatch):
    monkeypatch.chdir(my_file.parent)
    assert find("./my.py:first").name == "my.py:first"


@pytest.mark.parametrize("function", ["by_python", "by_numpy", "by_seed", "by_kwargs"])
def test_functions_of_users_are_repeatable(my_file, function):
    learner = make_learner()
    strategy = find(f"{my_file}:{function}")
    states = generator_states()
    batches = [tuple(strategy.query(learner, learner.X_pool, 5, s).indices) for s in (1, 1, 2)]
    assert batches[0] == batches[1] != batches[2]
    assert generator_states() == states


def test_a_function_of_a_module(my_file, monkeypatch):
    monkeypatch.syspath_prepend(str(my_file.parent))
    my_file.rename(my_file.with_name("my_strategies.py"))
    strategy = find("my_strategies:first@shift=1")
    assert strategy.name == "my_strategies:first@shift=1"
    learner = make_learner()
    assert_array_equal(strategy.query(learner, learner.X_pool, 2, 0).indices, [1, 2])
    assert "has no function 'last'" in message("my_strategies:last")


def test_mistakes_with_files_are_explained(my_file):
    assert "can't be read: No such file" in message(f"{my_file.with_name('none.py')}:f")
    assert "can't be read: Is a directory" in message(f"{_folder(my_file)}:f")
    no_function = message(f"{my_file}:last")
    assert f"{my_file} has no function 'last'; it has first, by_python" in no_function
    assert "number is 3; a strategy must be a function" in message(f"{my_file}:number")
    assert "can't be called as function(learner, X_pool, n_inst" in message(f"{my_file}:no_batch")
    assert "first has no option 'k'; it takes shift." in message(f"{my_file}:first@k=1")
    assert "learner is no option of" in message(f"{my_file}:by_kwargs@learner=1")


def _folder(my_file):
    folder = my_file.with_name("folder.py")
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("def f(:", "SyntaxError"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_files_and_modules_that_cannot_be_imported(tmp_path, monkeypatch, content, reason):
    file = tmp_path / "broken_strategy.py"
    file.write_text(content)
    for _ in range(2):  # nothing half done is left behind
        assert f"{file} can't be imported: {reason}" in message(f"{file}:f")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert f"broken_strategy can't be imported: {reason}" in message("broken_strategy:f")


def test_an_empty_file_says_that_it_is_empty(tmp_path):
    (tmp_path / "empty.py").touch()
    assert "it has no functions" in message(f"{tmp_path / 'empty.py'}:f")


# Entry points


@pytest.fixture
def installed(my_file, monkeypatch):
    """A package that offers strategies, as pip leaves it behind."""
    my_file.rename(my_file.with_name("installed_strategies.py"))
    folder = my_file.parent / "other_plugin-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: other-plugin\nVersion: 1.2\n")
    (folder / "entry_points.txt").write_text(
        "[real_plugin.strategies]\n"
        "other-first = installed_strategies:first\n"
        "other-broken = installed_strategies:nothing\n"
        "real = installed_strategies:first\n"
    )
    monkeypatch.syspath_prepend(str(my_file.parent))


@pytest.mark.usefixtures("installed")
def test_installed_strategies_are_found_by_name():
    strategy = find("other-first@shift=2")
    learner = make_learner()
    assert_array_equal(strategy.query(learner, learner.X_pool, 2, 0).indices, [2, 3])
    assert (strategy.name, strategy.fingerprint) == ("other-first@shift=2", "")
    assert "other-first has no option 'k'; it takes shift." in message("other-first@k=1")
    assert "Did you mean other-first" in message("other-frist")
    said = message("other-broken")
    assert "The installed strategy other-broken of other-plugin can't be loaded: Attrib" in said


@pytest.mark.usefixtures("installed")
def test_installed_strategies_are_listed_and_take_no_name_away():
    table = listing()
    assert re.search("other-first +installed: installed_strategies:first of other-plugin 1", table)
    assert find("real").function.__module__ == "benchmarks.strategies.real"
    assert len(re.findall("^real +", table, re.MULTILINE)) == 1


# What comes back


def answering(answer):
    return Strategy("mine", lambda learner, X_pool, n_instances: answer)


@pytest.mark.parametrize(
    "answer",
    [
        np.array([3, 5], dtype=np.uint8),
        [3, 5],
        (3, 5),
        (np.array([3, 5]), np.array([0.1, 0.2])),
        ([3, 5], None),
    ],
)
def test_positions_come_in_many_forms(answer):
    picks = answering(answer).query(None, np.zeros((8, 2)), 2, 0)
    assert isinstance(picks, Picks)
    assert picks.indices.dtype == np.int64
    assert picks.selection is None
    assert_array_equal(picks.indices, [3, 5])


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ([1], "1 positions"),
        ([1, 2, 3], "3 positions"),
        ([1, 1], "only 1 different positions"),
        ([-1, 1], "the position -1"),
        ([1, 8], "the position 8"),
        ([1.0, 2.0], "list of shape (2,) and dtype float64"),
        (np.array([True, False]), "ndarray of shape (2,) and dtype bool"),
        (np.array([[1], [2]]), "ndarray of shape (2, 1) and dtype int64"),
        (None, "NoneType of shape () and dtype object"),
        ([[1], [1, 2]], "list that is no array"),
        (([[1], [1, 2]], None), "list that is no array"),
        (torch.zeros(2, dtype=torch.int64, device="meta"), "Tensor that is no array"),
        ("ab", "str of shape ()"),
    ],
)
def test_anything_else_is_an_error_that_names_the_strategy(answer, problem):
    with pytest.raises(StrategyError) as caught:
        answering(answer).query(None, np.zeros((8, 2)), 2, 0)
    assert isinstance(caught.value, ValueError)
    assert f"Strategy mine returned {problem}" in str(caught.value)
    assert "it must return 2 different positions from 0 to 7." in str(caught.value)


def test_a_failure_names_the_strategy_and_keeps_its_cause():
    def fail(learner, X_pool, n_instances):
        raise KeyError("gone")

    with pytest.raises(StrategyError, match="Strategy mine failed: KeyError: 'gone'") as caught:
        Strategy("mine", fail).query(None, np.zeros((8, 2)), 2, 0)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("batch", [0, -1, 9])
def test_impossible_batches_are_refused(batch):
    with pytest.raises(ValueError, match=f"n_instances is {batch}"):
        answering([0]).query(None, np.zeros((8, 2)), batch, 0)
