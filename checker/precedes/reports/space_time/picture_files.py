"""Pictures as files: SVG as it is, and as PNG or PDF by a library that is an extra of the package."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, assert_never

from precedes.core.diagnostics import usage
from precedes.reports.space_time.picture import Picture, as_svg, as_text

Form: TypeAlias = Literal["text", "svg", "png", "pdf"]

FORMS: Final[dict[str, Form]] = {".svg": "svg", ".txt": "text", ".png": "png", ".pdf": "pdf"}
"""The form of a picture by the end of its file's name."""
SUFFIXES: Final = {form: suffix for suffix, form in FORMS.items()}
_SCALE: Final = 2.0
"""Pixels of a PNG for each unit of the drawing, for screens and for slides."""


def picture_bytes(picture: Picture, form: Form) -> bytes:
    """A picture as a file of one form has it."""
    match form:
        case "text":
            return as_text(picture).encode()
        case "svg":
            return as_svg(picture).encode()
        case "png" | "pdf":
            return converted(as_svg(picture), form)
        case _:
            assert_never(form)


def converted(svg: str, form: Literal["png", "pdf"]) -> bytes:
    """An SVG in another form. PrecedesError where the library for it is missing."""
    try:
        import cairosvg
    except (ImportError, OSError) as error:
        hint = "install it: pip install 'precedes[pictures]'; it needs the library cairo of the system"
        raise usage(f"{form.upper()} needs cairosvg, which cannot be loaded here", hint) from error
    convert = cairosvg.svg2png if form == "png" else cairosvg.svg2pdf
    found: bytes = convert(bytestring=svg.encode(), scale=_SCALE if form == "png" else 1.0)
    return found
