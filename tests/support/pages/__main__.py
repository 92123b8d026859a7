"""Write the generated pages."""

from . import DOCS, PAGES

for name, make in PAGES.items():
    (DOCS / name).write_text(make(), encoding="utf-8")
