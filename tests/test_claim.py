"""The page of the claim and the paper say what its benchmark stored."""

import re
from pathlib import Path

import benchmark_pages

DOCS = Path(__file__).resolve().parents[1] / "docs"
OURS = "bayescal"
SUN, NEAR = "debiased ECE, Sun et al.", "ECE, 10 equal-mass, basic bootstrap"
FAR = (
    "ECE, 10 equal-width, bootstrap",
    "ECE, 10 equal-mass, bootstrap",
    "SmoothECE, bootstrap",
    "ICI, loess, bootstrap",
    "ICI, spline, simulated",
)
TABLES = {name: it["rows"] for name, it in benchmark_pages.stored("claim")["tables"].items()}


def share(value):
    return f"{value:.2f}".removeprefix("0")


def of(method, column, n=None):
    return [
        row[column]
        for row in TABLES["by_size"]
        if row["method"] == method and n in (None, row["n"])
    ]


def contains_zero(method, exact):
    """The mean over sizes; each has as many sets."""
    rows = [r for r in TABLES["zero"] if r["method"] == method and r["exact"] == exact]
    return float(sum(row["contains 0"] for row in rows) / len(rows))


def test_the_table_of_methods_is_what_was_measured():
    page = (DOCS / "claim.md").read_text("utf-8")
    for method in dict.fromkeys(row["method"] for row in TABLES["by_size"]):
        coverage, own = of(method, "coverage"), of(method, "own aim")
        width, bias = (of(method, name, 500)[0] for name in ("width", "bias"))
        cells = (
            method,
            f"{share(min(coverage))} to {share(max(coverage))}",
            f"{share(min(own))} to {share(max(own))}",
            share(contains_zero(method, True)),
            f"{width:.3f}".removeprefix("0"),
            f"{bias:+.3f}".replace("0.", ".").replace("-", "−"),
        )
        assert f"| {' | '.join(cells)} |" in page, cells


def test_the_table_of_kinds_is_what_was_measured():
    page = (DOCS / "claim.md").read_text("utf-8")
    lowest = {}
    for row in TABLES["cells"]:
        n, value = min(((n, row[n]) for n in row if n != "kind"), key=lambda cell: cell[1])
        lowest[row["kind"]] = f"{share(value)} ({n})"
    for row in TABLES["by_kind"]:
        cells = [row["kind"], share(row["coverage"]), lowest[row["kind"]]]
        cells += [share(row[name]) for name in (NEAR, SUN)]
        assert f"| {' | '.join(cells)} |" in page, cells


def spread(*methods):
    values = [value for method in methods for value in of(method, "coverage")]
    return f"{share(min(values))} to {share(max(values))}"


def zero_though_off(method, n):
    rows = (row for row in TABLES["zero"] if not row["exact"])
    return share(next(r["contains 0"] for r in rows if (r["method"], r["n"]) == (method, n)))


def below(limit):
    """Cells that bayescal covers less often, in words."""
    cells = ((row["kind"], n, row[n]) for row in TABLES["cells"] for n in row if n != "kind")
    return [f"{kind} with {n} ({share(value)})" for kind, n, value in cells if value < limit]


def test_sentences_quote_what_was_measured():
    wider = [wide / own for wide, own in zip(of(SUN, "width"), of(OURS, "width"), strict=True)]
    kinds = {row["kind"]: row for row in TABLES["by_kind"]}
    lowest = min(kinds, key=lambda kind: kinds[kind]["coverage"])
    small = min(kinds, key=lambda kind: kinds[kind]["bias"])
    failed, weak = below(25 / 30 - 1e-3), below(0.9)
    both = (
        f"in {spread(OURS)} of the data sets of a size",
        f"in {spread(*FAR)}",
        f"in {spread(NEAR)}",
        f"({spread(SUN)})",
    )
    page = (
        *both,
        f"{sum(row['sets'] for row in kinds.values())} data sets",
        f"{min(wider):.1f} to {max(wider):.1f} times as wide",
        f"in {zero_though_off(SUN, 1000)} of the sets of 1000 patients whose model is off, ours "
        f"in {zero_though_off(OURS, 1000)}",
        f"in {share(of(FAR[-1], 'none', 50)[0])} of the sets of 50 patients",
        f"below .93: {sum(value < 0.93 for value in of(OURS, 'coverage'))} of 7",
        f"below .90: {sum(row['coverage'] < 0.9 for row in kinds.values())} of 16",
        f"the lowest is {share(kinds[lowest]['coverage'])} ({lowest})",
        f"cells that fail: {len(failed)} of {7 * len(kinds)}",
        f"chance alone gives .4: {', '.join(failed)}.",
        f"too large (by {kinds[lowest]['bias']:.3f} on average)".replace("0.", "."),
        f"{len(weak)} cells are below .90.",
        f"is {share(of(OURS, 'width', 50)[0])} wide on average",
        f"in {zero_though_off(OURS, 50)} of the sets whose model is off, with 5000 in "
        f"{zero_though_off(OURS, 5000)}",
        f"{of(OURS, 'bias', 50)[0]:.3f} too large".removeprefix("0"),
        f"{small} by {-kinds[small]['bias']:.3f}".replace("0.", "."),
        f"in {share(contains_zero(OURS, True))} of the sets of the two calibrated kinds",
        f"in {share(max(contains_zero(method, True) for method in FAR))}.",
    )
    low, high = (value.removeprefix(".") for value in spread(OURS).split(" to "))
    for path in (DOCS / "index.md", DOCS.parent / "README.md"):
        assert f"{low} to {high} % of" in path.read_text("utf-8")
    text = (DOCS / "claim.md").read_text("utf-8")
    assert [part for part in page if part not in text] == []
    text = " ".join((DOCS / "paper" / "paper.md").read_text("utf-8").split())
    both += (
        f"drew {sum(row['sets'] for row in kinds.values())} data sets",
        f"with {share(kinds[lowest]['coverage'])} (",
        f"{min(wider):.1f} to {max(wider):.1f} times as wide as ours",
        f"sets {share(contains_zero(OURS, True))} had an interval that reached zero",
        f"lowest in {share(min(row[n] for row in TABLES['cells'] for n in row if n != 'kind'))}.",
        f"is {share(of(OURS, 'width', 50)[0])} wide on average",
    )
    assert [part for part in both if part not in text] == []


def test_the_paper_has_at_most_1000_words_and_cites_what_is_listed():
    text = (DOCS / "paper" / "paper.md").read_text("utf-8").split("---", 2)[2]
    assert len(re.findall(r"\w[\w'’.-]*", text)) <= 1000
    listed = re.findall(r"^@\w+\{(\w+),", (DOCS / "paper" / "paper.bib").read_text("utf-8"), re.M)
    assert sorted(set(re.findall(r"@(\w+\d{4}\w*)", text))) == sorted(listed)
