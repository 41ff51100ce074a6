"""Compare scores of sets of known truth with those stored, or store them for this version.

`python tests/truths --compare` prints old and new and stores nothing; `python tests/truths` stores,
too. Names of themes, such as `"one curve" gain`, leave the others as they are. All take about five
minutes of a processor.
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor

from truth_scores import changes, scored, store, stored
from truth_sets import THEMES


def quietly(theme):
    """Scores of a theme, in a process of its own."""
    warnings.simplefilter("ignore")
    return scored(theme)


def main():
    parser = argparse.ArgumentParser(prog="python tests/truths", description=__doc__)
    parser.add_argument("themes", nargs="*", metavar="theme", help=", ".join(THEMES))
    parser.add_argument("--compare", action="store_true", help="store nothing")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names, old = options.themes or list(THEMES), stored()
    if unknown := set(names) - THEMES.keys():
        parser.error(f"no theme is called {min(unknown)!r}; themes are {', '.join(THEMES)}")
    with ProcessPoolExecutor(options.jobs) as pool:
        new = dict(zip(names, pool.map(quietly, names), strict=True))
    for theme in names:
        for change in changes(theme, old.get(theme, new[theme]), new[theme]):
            print(change.in_words)
    if not options.compare:
        store(old | new)


if __name__ == "__main__":
    main()
