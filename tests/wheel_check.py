"""Run by `make wheel` where only the wheel and its core dependencies are installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np

import real_plugin


def main():
    module = Path(real_plugin.__file__)
    assert module.is_relative_to(sys.prefix), f"{module} is not the wheel's"
    assert module.with_name("py.typed").exists()
    assert (module.parent / "labeling" / "page.js").exists()
    for absent in ("modAL", "skactiveml", "torch", "skorch", "pandas"):
        assert importlib.util.find_spec(absent) is None, f"{absent} is installed"

    rng = np.random.default_rng(0)
    P, E = rng.dirichlet([1, 1, 1], size=500), rng.normal(size=(500, 16))
    selection = real_plugin.select(P, E, 20, random_state=0)
    assert len(set(selection.indices.tolist())) == 20
    assert selection.explain(int(selection.indices[0])).startswith("Row ")

    class Classifier:
        def predict_proba(self, X):
            return P

    for strategy in real_plugin.STRATEGIES.values():
        assert len(strategy(Classifier(), E, n_instances=5)) == 5

    for extra, module in (("skactiveml", "skactiveml"), ("text", "text"), ("label", "labeling")):
        message = import_error(lambda name=module: importlib.import_module(f"real_plugin.{name}"))
        assert f"pip install 'real-plugin[{extra}]'" in message
    message = import_error(lambda: importlib.import_module("real_plugin.distributed"))
    assert "pip install 'real-plugin[dask]'" in message
    assert "pip install pandas" in import_error(selection.to_frame)
    command = Path(sys.prefix) / "bin" / "real-plugin"
    done = subprocess.run([command, "stop"], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert "pip install 'real-plugin[label]'" in done.stderr
    print(f"wheel of real_plugin {real_plugin.__version__}: core works, extras say their name")


def import_error(action):
    try:
        action()
    except ImportError as error:
        return str(error)
    raise AssertionError("no ImportError")


if __name__ == "__main__":
    main()
