"""The notebook of the guides runs, and prints what it shows."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from .conftest import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def printed(notebook: nbformat.NotebookNode) -> list[list[str]]:
    """Return what each cell prints, and the kinds of its pictures."""
    return [
        [output["text"] if "text" in output else " ".join(sorted(output["data"])) for output in cell.get("outputs", [])]
        for cell in notebook.cells
    ]


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_prints_what_it_shows(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(NOTEBOOK, 4)
    shown = printed(notebook)
    monkeypatch.setenv("GUARD_CORPUS", str(shared / "data" / "agentdojo-jsonl"))
    client = NotebookClient(
        notebook,
        timeout=300,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(NOTEBOOK.parent)}},
    )
    # `client.execute()` leaves an open event loop, of which any later test may be warned.
    asyncio.run(client.async_execute())
    if os.environ.get("GUARD_ACCEPT"):
        # Keeps new outputs, to be read before they are committed.
        nbformat.write(notebook, NOTEBOOK)
    assert printed(notebook) == shown
