"""Names the extra if a package of it is missing, without importing any: that takes seconds."""

import importlib.util

PACKAGES = ("filelock", "openpyxl", "pyarrow", "skorch", "statsmodels", "torch", "tqdm")

for _name in PACKAGES:
    if importlib.util.find_spec(_name) is None:
        raise ImportError(f"real_plugin.labeling needs {_name}: pip install 'real-plugin[label]'")
