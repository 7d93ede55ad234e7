"""docs/errors.md explains every code that AgentV can print, and no other."""

from generated import error_sections
from source_codes import source_codes


def test_every_code_has_its_section() -> None:
    missing = source_codes() - set(error_sections())
    assert not missing, f"docs/errors.md lacks {', '.join(sorted(missing))}"


def test_every_section_explains_a_code_that_exists() -> None:
    extra = set(error_sections()) - source_codes()
    assert not extra, f"docs/errors.md explains {', '.join(sorted(extra))}, which nothing prints"


def test_sections_stand_in_alphabetical_order() -> None:
    sections = error_sections()
    assert sections == sorted(sections)
