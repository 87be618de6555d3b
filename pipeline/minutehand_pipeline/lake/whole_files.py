"""Write whole files to a folder or an object store."""

from pyarrow.fs import PyFileSystem

BUFFER = 1 << 20  # bytes


def write_file(filesystem: PyFileSystem, path: str, content: bytes) -> None:
    """Write a file through delta-rs, replacing one of the same name.

    delta-rs accepts bytes only. What is as large as the buffer, pyarrow passes on in a type of its own, so the content
    is written in smaller parts.
    """
    parts, size = memoryview(content), BUFFER // 2
    with filesystem.open_output_stream(path, buffer_size=BUFFER) as stream:
        for begin in range(0, len(parts), size):
            stream.write(parts[begin : begin + size])
