"""Data inside a page."""

from __future__ import annotations

import json
from typing import Any


def script_json(value: Any) -> str:
    """JSON that ends no script and opens no comment in one."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
