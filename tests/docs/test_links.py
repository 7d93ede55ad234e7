"""Links between pages lead somewhere, and words are defined once."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_blocks import PAGES, ROOT, page_id, place, prose_of

_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$")
_NOT_IN_SLUGS = re.compile(r"[^\w\- ]")


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_internal_links_lead_somewhere(page: Path) -> None:
    """Both to a file of this repository and, behind `#`, to a heading in it."""
    for number, line in prose_of(page):
        for link in _LINK.findall(line):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            where = f"{place(page, number)}: {link}"
            assert target.exists(), f"{where} leads nowhere"
            if anchor:
                assert anchor in set(_anchors(target)), f"{where}: no such heading"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    text = index.read_text("utf-8")
    for page in sorted(ROOT.glob("docs/*.md")):
        assert page == index or f"({page.name})" in text, f"docs/index.md does not name {page.name}"


@pytest.mark.parametrize("heading", ["word", "they say"])
def test_the_glossary_has_no_term_twice(heading: str) -> None:
    terms = Counter(_first_column(ROOT / "docs" / "glossary.md", heading))
    assert terms, f"no table begins with '{heading}'"
    assert [term for term, count in terms.items() if count > 1] == []


def _anchors(page: Path) -> Iterator[str]:
    """As GitHub makes them: lower case, no punctuation, hyphens for spaces."""
    seen: Counter[str] = Counter()
    for _, line in prose_of(page):
        if heading := _HEADING.match(line):
            slug = _NOT_IN_SLUGS.sub("", heading[1].lower()).replace(" ", "-")
            yield f"{slug}-{seen[slug]}" if seen[slug] else slug
            seen[slug] += 1


def _first_column(page: Path, heading: str) -> Iterator[str]:
    inside = False
    for _, line in prose_of(page):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == heading:
            inside = True
        elif inside and not cells[0].startswith("-"):
            yield from (term.strip("* ") for term in cells[0].split(","))
