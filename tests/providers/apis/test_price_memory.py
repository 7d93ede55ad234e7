"""A price that was looked up once is known to later runs without the list."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentv.providers.apis.price_list import Price, Rates
from agentv.providers.apis.price_memory import recall, remember

PRICE = Price(rates=(Rates(above=0, input=2.5, cached=1.25, output=10.0),))
LOOK_UP = """\
import sys
from agentv.model.score import Usage
from agentv.providers.apis.prices import cost_usd
usage = Usage(input_tokens=1_000_000, output_tokens=0)
print(cost_usd("openai", sys.argv[1], usage), "genai_prices" in sys.modules)
"""


def look_up(model: str, folder: Path) -> str:
    """The price, and whether the list was imported for it; in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK_UP, model],
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize(("model", "price"), [("gpt-4o", "2.5"), ("llama3", "None")])
def test_the_second_run_does_without_the_list(tmp_path: Path, model: str, price: str) -> None:
    assert look_up(model, tmp_path) == f"{price} True"
    assert look_up(model, tmp_path) == f"{price} False"


def test_what_came_from_another_version_of_the_list_does_not_count(tmp_path: Path) -> None:
    look_up("gpt-4o", tmp_path)
    [file] = (tmp_path / "agentv").iterdir()
    file.write_text(file.read_text().replace("2.5", "9.9").replace("genai_prices", "elsewhere"))
    assert look_up("gpt-4o", tmp_path) == "2.5 True"


@pytest.mark.parametrize("content", [b"", b"{", b'{"source": 1}', b"\xff"])
def test_a_broken_file_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "agentv" / "prices.json"
    file.parent.mkdir()
    file.write_bytes(content)
    assert recall("gpt-4o") == (False, None)
    remember("gpt-4o", PRICE)
    assert recall("gpt-4o") == (True, PRICE)


def test_a_broken_file_is_put_right(tmp_path: Path) -> None:
    file = tmp_path / "agentv" / "prices.json"
    file.parent.mkdir()
    file.write_bytes(b"{")
    assert look_up("gpt-4o", tmp_path) == "2.5 True"
    assert look_up("gpt-4o", tmp_path) == "2.5 False"


def test_a_folder_that_takes_no_file_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "agentv").write_text("in the way")
    assert look_up("gpt-4o", tmp_path) == "2.5 True"
