"""What the site has that its pages have not: the version below each page, and links in the diagram of implications.

mkdocs calls these functions (`hooks` in mkdocs.yml). A page as Markdown shows the diagram as a picture. The site shows
it in its own size, so that it can be read, and each name in it leads to its definition.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from precedes.core.version import VERSION
from precedes.language.library import standard_library
from tools.pages import anchor

DIAGRAM: Final = "lattice/diagram.svg"
_BOX: Final = re.compile(r"(?P<before><g[^>]*>(?:<title>[^<]*</title>)?)(?P<inside><rect[^>]*/>.*?)</g>")
_TEXT: Final = re.compile(r"<text[^>]*>([^<]*)</text>")


def on_config(config: Any) -> Any:
    """The version, in the last line of each page."""
    config["copyright"] = f"precedes {VERSION}"
    return config


def on_page_content(html: str, **_known: Any) -> str:
    """The diagram as a document of its own, whose links work, in its own size."""
    shown = rf'<img alt="([^"]*)" src="([^"]*{re.escape(DIAGRAM)})" ?/?>'
    return re.sub(
        shown,
        r'<span class="wide"><object type="image/svg+xml" data="\2" aria-label="\1"></object></span>',
        html,
    )


def on_post_build(config: Any, **_known: Any) -> None:
    """Links in the diagram."""
    picture = Path(config["site_dir"]) / DIAGRAM
    picture.write_text(linked(picture.read_text(encoding="utf-8")), encoding="utf-8")


def linked(svg: str) -> str:
    """The diagram in which each box leads to the definition of its first name."""
    known = set(standard_library().names())

    def box(found: re.Match[str]) -> str:
        # A long name is broken into lines, and `= ` begins another name for the same.
        name = "".join(_TEXT.findall(found["inside"])).partition("= ")[0]
        if name not in known:
            return found[0]
        address = f"../reference/library.html#{anchor(name)}"
        return f'{found["before"]}<a href="{address}" target="_top">{found["inside"]}</a></g>'

    style = "a:hover rect, a:focus rect { stroke-width: 2.5 } a { cursor: pointer }"
    return _BOX.sub(box, svg).replace("</style>", f" {style}</style>", 1)
