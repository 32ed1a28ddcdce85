"""The README's and the docs' Python examples run as they stand."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples():
    for page in PAGES:
        for match in FENCE.finditer(page.read_text(encoding="utf-8")):
            line = page.read_text(encoding="utf-8")[: match.start()].count("\n") + 2
            yield pytest.param(page, line, match[1], id=f"{page.name}:{line}")


@pytest.mark.parametrize(("page", "line", "code"), list(examples()))
def test_example_runs(page, line, code, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    exec(compile("\n" * (line - 1) + code, str(page), "exec"), {"__name__": "__main__"})


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
