"""Write docs/performance.md and its plots: make docs/performance."""

from bench import results
from bench.page.plots import draw_all
from bench.page.write import PAGE, README, page, readme


def main() -> None:
    """Write the page, then the plots."""
    measured = results.load()
    PAGE.write_text(page(measured), "utf-8")
    README.write_text(readme(measured), "utf-8")
    draw_all(measured)
    print("docs/performance.md")


if __name__ == "__main__":
    main()
