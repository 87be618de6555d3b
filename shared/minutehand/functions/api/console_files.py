"""The files of the console: one HTML page, and the modules, styles and libraries that it loads.

Their addresses contain a hash of all of them, so that a browser may keep them until the console changes.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath

FOLDER = Path(__file__).parent / "console"
STYLES = "styles.css"
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
VERSION_CHARACTERS = 12
# "/jobs/ID"; a page's address contains everything else as its query.
MAX_DEPTH = 2
MAX_PATH = 200


@cache
def files() -> dict[str, bytes]:
    """Return the scripts by their paths, and all styles as one file, in the order of their names."""
    scripts = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*.js")}
    styles = b"".join(path.read_bytes() for path in sorted(FOLDER.glob("styles/*.css")))
    return {**dict(sorted(scripts.items())), STYLES: styles}


@cache
def version() -> str:
    """Return the version of the files: the beginning of their hash."""
    found = sha256()
    for name, content in files().items():
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()[:VERSION_CHARACTERS]


def media_type(name: str) -> str:
    """Return the content type of a file."""
    return f"{MEDIA_TYPES[PurePosixPath(name).suffix]}; charset=utf-8"


def is_page(path: str) -> bool:
    """Return whether a decoded path below /console may be that of a page: no page has a longer one."""
    return len(path) <= MAX_PATH and path.count("/") <= MAX_DEPTH


def index(path: str) -> bytes:
    """Return the HTML of a page, whose path below /console is '', '/' or '/jobs', for example.

    Its addresses are relative, because only the browser knows the prefix of an API behind a gateway.
    """
    above = "../" * (path.count("/") - 1) if path else "console/"
    static = f"{above}static/{version()}"
    preloads = "\n".join(
        f'<link rel="modulepreload" href="{static}/{name}">'
        for name in files()
        if name.startswith(("app/", "vendor/preact"))
    )
    text = (FOLDER / "index.html").read_text(encoding="utf-8")
    return text.replace("{preloads}", preloads).replace("{static}", static).encode()
