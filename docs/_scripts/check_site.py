"""Check a built site: `python docs/_scripts/check_site.py docs/_build/html`.

Every internal link leads to a page and to an anchor that exist, no page weighs more than 500 kB
with its pictures, the search knows every public name, and what people search first is among its
first three hits. The last is asked of the page itself, in Chromium, and left out where there is
none. Sphinx keeps words of `{index}` in a build from scratch only: remove `docs/_build` before.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import bayescal
from demo_picture import headless

HEAVIEST = 500_000
PICTURES = {".png", ".svg", ".jpg", ".gif"}
MADE_BY_THE_BUILDER = ("_static/", "genindex", "search.html")
"""Parts of the theme, the index and the search."""
SEARCHES = {
    "LLM": "how-to/language-model.html",
    "hospital": "how-to/sites.html",
    "multiclass": "how-to/multiclass.html",
    "drift": "how-to/drift.html",
    "sample size": "how-to/plan.html",
    "calibration slope": "explanation/glossary.html",
    "word report": "how-to/report.html",
}
"""The page that a search should find. A page says by `{index}` what it is searched as."""


class Page(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the tag refers to, and by what it can be referred to."""
        known = dict(attrs)
        self.anchors |= {known[key] or "" for key in ("id", "name") if key in known}
        wanted = {"a": "href", "img": "src", "link": "href", "script": "src"}.get(tag)
        if wanted and known.get(wanted):
            self.links.add(known[wanted] or "")


def wrong(site: Path) -> list[str]:
    """What is broken or too heavy, one line each."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    lines = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        if name.startswith(MADE_BY_THE_BUILDER):
            continue
        weight = path.stat().st_size
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                lines.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target in pages:
                if unquote(parts.fragment) not in pages[target].anchors:
                    lines.append(f"{name}: {link} has no such anchor")
            elif target.suffix in PICTURES:
                weight += target.stat().st_size
        if weight > HEAVIEST:
            lines.append(f"{name}: {weight / 1000:.0f} kB")
    return lines


def not_searchable(site: Path, names: list[str]) -> list[str]:
    """Public names that the index of the search does not have."""
    index = (site / "searchindex.js").read_text("utf-8")
    objects = json.loads(index[index.index("(") + 1 : index.rindex(")")])["objects"]
    known = {entry[-1] for entries in objects.values() for entry in entries}
    return [f"the search does not know {name}" for name in names if name not in known]


def hits(results: str) -> list[str]:
    """Pages in the results of a search, best first."""
    return re.findall(r'<li class="kind-\w+"><a href="([^"?#]+)', results)


def not_found(site: Path) -> list[str]:
    """Searches whose page is not among the first three hits."""
    lines = []
    for query, page in SEARCHES.items():
        address = f"{(site / 'search.html').as_uri()}?q={quote(query)}"
        results = headless(address, "--virtual-time-budget=20000", "--dump-dom")
        if results is not None and page not in (first := hits(results)[:3]):
            lines.append(f"a search for {query!r} finds {first}, not {page}")
    return lines


def main() -> None:
    """Print what is wrong, and end with status 1 if anything is."""
    site = Path(sys.argv[1]).resolve()
    names = [
        name
        for name in bayescal.__all__
        if not name.startswith("_") and not inspect.ismodule(getattr(bayescal, name))
    ]
    lines = wrong(site) + not_searchable(site, names) + not_found(site)
    if lines:
        sys.exit("\n".join(lines))
    print(f"{len(list(site.rglob('*.html')))} pages: every link leads somewhere, none is too heavy")


if __name__ == "__main__":
    main()
