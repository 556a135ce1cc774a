"""What the page "Try it" runs in the browser: the text of its box is judged, and each scenario in it is drawn."""

from pathlib import Path

import precedes


def judge(text: str) -> tuple[str, list[str]]:
    """The report as the command prints it, and a drawing of each scenario as SVG; for a mistake, what it is."""
    file = Path("scenario.prec")
    file.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
    try:
        report = precedes.check(file)
        names = dict.fromkeys(row["scenario"] for row in report.rows() if row["scenario"] is not None)
        return report.text(), [precedes.draw(file, scenario=name).svg for name in names]
    except precedes.PrecedesError as error:
        return str(error), []
