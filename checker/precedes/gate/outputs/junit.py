"""JUnit XML: a suite for each check, a case for each item; what is undecided is skipped, what does not count passes
with its message as output. What is not printable is escaped first: XML 1.0 has no way to write some of it."""

from __future__ import annotations

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from precedes.core.printable import printable
from precedes.gate.findings import Judged, Summary


def render(summary: Summary) -> str:
    """The document, for `testsuites` readers."""
    document = JUnitXml("precedes gate")
    checks: dict[str, list[Judged]] = {}
    for judged in summary.judged:
        checks.setdefault(judged.item.check, []).append(judged)
    for check, group in checks.items():
        suite = TestSuite(printable(check))
        suite.add_testcases([_case(judged) for judged in group])
        # `add_testsuite` compares with every suite that is there, and these are different.
        document.append(suite)
    document.update_statistics()
    text: str = document.tostring().decode("utf-8")
    return text if text.endswith("\n") else text + "\n"


def _case(judged: Judged) -> TestCase:
    item = judged.item
    case = TestCase(printable(item.subject), classname=printable(item.check))
    said = printable(f"{item.place.path}:{item.place.line}: {item.rule} {item.message}\n{item.detail}")
    if judged.counts:
        failure = Failure(printable(item.message), item.rule)
        failure.text = said
        case.result = [failure]
    elif item.result == "undecided":
        case.result = [Skipped(printable(item.message), item.rule)]
    elif item.result == "failed":
        case.system_out = said
    return case
