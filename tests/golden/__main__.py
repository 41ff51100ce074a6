"""Store golden numbers anew: `python tests/golden one_curve structured`.

The parts are `exact`, `one_curve` and `structured`. Numbers of `exact` move for no reason but an
error in the old ones, so they are stored only with `--exact-was-wrong`.
"""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.shared import computed, path_of, stored

parser = argparse.ArgumentParser(prog="python tests/golden", description=__doc__)
parser.add_argument("parts", nargs="+", choices=("exact", "one_curve", "structured"))
parser.add_argument("--exact-was-wrong", action="store_true")
options = parser.parse_args()
if "exact" in options.parts and not options.exact_was_wrong:
    parser.error("numbers of `exact` do not move; if the old ones were wrong: --exact-was-wrong")
for part in options.parts:
    old = stored(part) if path_of(part).exists() else {}
    new = computed(import_module(f"golden.{part}").NUMBERS)
    moved = sum(old.get(name) != number for name, number in new.items())
    path_of(part).write_text(json.dumps(new, indent=0, sort_keys=True) + "\n", "utf-8")
    print(f"{part}: {moved} of {len(new)} numbers are new, {len(old.keys() - new.keys())} gone")
