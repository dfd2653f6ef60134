"""Every code block of docs/experiments.md and docs/testing.md runs: files are written, commands are run, and their
output is as it stands."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["experiments.md", "testing.md"]
BLOCK = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def environment() -> dict[str, str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "OTEL"))}
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    if "otel_eval" not in {entry.name for entry in metadata.entry_points(group="pytest11")}:
        environ["PYTEST_PLUGINS"] = "otel_eval.experiment.pytest_plugin"
    return environ


def commands(block: str) -> list[tuple[str, list[str]]]:
    """Each command of a console block with the lines that it prints, in order."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line)
    return found


@pytest.mark.timeout(300)  # a process for each block
@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs_and_prints_what_the_page_says(tmp_path, page):
    """Blocks with a title are files, console blocks are commands; there are no others."""
    environ, ran = environment(), 0
    for kind, title, body in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if title:
            (tmp_path / title).write_text(body, encoding="utf-8")
            continue
        assert kind == "console", f"a block of {kind} without a title: {body[:80]}"
        for command, expected in commands(body):
            done = subprocess.run(
                command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
            )
            printed, place = done.stdout + done.stderr, 0
            for line in expected:
                place = printed.find(line, place)
                assert place >= 0, f"{command}\ndid not print\n{line}\nafter what came before it, but\n{printed}"
            ran += 1
    assert ran >= 4


@pytest.mark.parametrize("page", ["experiments.md"])
def test_every_file_that_the_page_links_to_exists(page):
    """Relative links of the page."""
    links = re.findall(r"\]\((\.\./[^)#]+)\)", (DOCS / page).read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (DOCS / link).exists(), link
