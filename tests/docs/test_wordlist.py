"""Documentation and messages avoid the phrases in wordlist.toml."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.docs.reading import ROOT

WORDLIST = Path(__file__).parent / "wordlist.toml"
TEST_REFERENCE = re.compile(r"`tests/[\w/]+\.py::\w+`")

# Files that must be clean. Add a glob when its files are. The dump of the schema is generated from clean files.
GENERATED = {Path("shared/minutehand/schema/schema.sql")}
CLEAN = (
    "*.md",
    "Makefile",
    "pyproject.toml",
    ".ci/run",
    ".ci/*.py",
    "docs/**/*.md",
    "docs/**/*.py",
    "docs/**/*.ipynb",
    "mkdocs.yml",
    "events/**/*.md",
    "events/**/*.json",
    "shared/**/*.py",
    "shared/**/*.sql",
    "shared/**/*.html",
    "shared/**/*.js",
    "shared/**/*.css",
    "shared/minutehand/costs/*.toml",
    "shared/minutehand/project/templates/**/*.*",
    "functions/**/*.py",
    "pipeline/**/*.py",
    "pipeline/**/*.sql",
    "pipeline/**/*.html",
    "pipeline/**/*.css",
    "pipeline/*.md",
    "pipeline/pyproject.toml",
    "emulator/**/*.py",
    "bench/**/*.py",
    "bench/*/clients/*.mjs",
    "bench/page/*.md",
    "bench/page/*.toml",
    "layers/**/*.md",
    "layers/**/*.in",
    "layers/**/Makefile",
    "layers/*.mk",
    "layers/*.py",
    "template.yaml",
    "pipeline/template.yaml",
    "samconfig.toml",
    "tests/**/*.py",
    "tests/**/*.sql",
    "tests/**/*.yaml",
)


@dataclass(frozen=True)
class Phrase:
    """A pattern to avoid, an example of it, and a suggestion."""

    pattern: re.Pattern[str]
    example: str
    suggestion: str

    @cached_property
    def quick(self) -> re.Pattern[str]:
        """The pattern for text in lower case, without a first word boundary: it matches more, in half the time."""
        return re.compile(self.pattern.pattern.removeprefix(r"\b"), re.MULTILINE)

    def findings(self, path: Path, text: str, lower: str) -> Iterator[str]:
        """Yield one line per match: file, line number, phrase and suggestion."""
        if not self.quick.search(lower):
            return
        for match in self.pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {match[0].strip()!r}: prefer {self.suggestion!r}"


def read_wordlist() -> list[Phrase]:
    entries = tomllib.loads(WORDLIST.read_text("utf-8"))["phrase"]
    flags = re.IGNORECASE | re.MULTILINE
    return [
        Phrase(re.compile(each["pattern"], flags), each["example"], each["suggestion"]) for each in entries
    ]


def find_phrases(root: Path, globs: Iterable[str]) -> list[str]:
    """Search files for all phrases; names of tests in the documentation do not count."""
    phrases = read_wordlist()
    findings: list[str] = []
    for path in sorted(
        {path for glob in globs for path in root.glob(glob)} - {root / path for path in GENERATED}
    ):
        text = TEST_REFERENCE.sub("", path.read_text("utf-8"))
        lower = text.lower()
        for phrase in phrases:
            findings += phrase.findings(path.relative_to(root), text, lower)
    return findings


def test_clean_files_avoid_the_phrases_of_the_wordlist() -> None:
    findings = find_phrases(ROOT, CLEAN)

    assert not findings, "\n" + "\n".join(findings)


def test_clean_globs_match_files() -> None:
    assert [glob for glob in CLEAN if not any(ROOT.glob(glob)) and not glob.startswith("layers/")] == []


def test_wordlist_patterns_match_their_examples() -> None:
    unmatched = [
        phrase.example
        for phrase in read_wordlist()
        if not any(phrase.findings(Path(), phrase.example, phrase.example.lower()))
    ]

    assert unmatched == []


def test_finding_has_file_line_phrase_and_suggestion(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("# Page\n\n" + read_wordlist()[0].example + "\n")

    findings = find_phrases(tmp_path, ("docs/*.md",))

    assert findings == [
        "docs/page.md:3: " + repr("who" + "ever") + ": prefer " + repr(read_wordlist()[0].suggestion)
    ]
