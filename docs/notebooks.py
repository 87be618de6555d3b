"""Show the notebooks of the documentation as pages of the site: mkdocs calls these functions as hooks."""

import json
from pathlib import PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, next to the file itself, which readers can download."""
    for notebook in [each for each in files if each.src_uri.endswith(".ipynb")]:
        page = str(PurePosixPath(notebook.src_uri).with_suffix(".md"))
        content = to_markdown(json.loads(notebook.content_string))
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to a notebook lead to its page, except on that page."""
    return markdown if page.file.generated_by else markdown.replace(".ipynb)", ".md)")


def to_markdown(notebook: dict[str, Any]) -> str:
    """Return a notebook's text, code and printed output."""
    return "\n".join(_cell(cell) for cell in notebook["cells"])


def _cell(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return f"{source}\n"
    printed = "".join(line for output in cell["outputs"] for line in output["text"])
    return _fenced("python", source) + (_fenced("text", printed) if printed else "")


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n\n"
