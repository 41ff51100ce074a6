"""The check of the built site sees what is broken."""

import json

import pytest

import check_site


@pytest.fixture
def site(tmp_path):
    """Two pages that lead to each other, a picture, and the index of the search."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top">A</h1><a href="sub/b.html#part">b</a><a href="https://example.org/">x</a>'
        '<a href="#top">up</a><img src="a.png">'
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="part"><a href="../index.html?v=1">a</a>')
    (tmp_path / "a.png").write_bytes(b"x" * 1000)
    objects = {"objects": {"bayescal": [[0, 1, 1, "", "fit"]]}}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(objects)})")
    return tmp_path


def test_a_sound_site_passes(site):
    assert check_site.wrong(site) == []
    assert check_site.not_searchable(site, ["fit"]) == []


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ('<a href="c.html">c</a>', "index.html: c.html leads nowhere"),
        ('<a href="sub/b.html#no">c</a>', "index.html: sub/b.html#no has no such anchor"),
        ('<img src="no.svg">', "index.html: no.svg leads nowhere"),
        ("x" * 499_000, "index.html: 500 kB"),
    ],
)
def test_what_is_broken_or_heavy_is_named(site, added, problem):
    page = site / "index.html"
    page.write_text(page.read_text() + added)
    assert check_site.wrong(site) == [problem]


def test_a_name_that_cannot_be_searched_is_named(site):
    assert check_site.not_searchable(site, ["compare"]) == ["the search does not know compare"]


def test_hits_of_a_search_are_its_pages_in_their_order():
    found_by_name = '<li class="kind-object"><a href="generated/a.html?highlight=x#a">a</a></li>'
    found_by_text = '<li class="kind-text"><a href="how-to/plan.html?highlight=x">b</a></li>'
    results = check_site.hits(f"<ul>{found_by_name}{found_by_text}</ul>")
    assert results == ["generated/a.html", "how-to/plan.html"]
