"""The points of Figures 8 and 9 of 1994: computed by the equations and measured on the protocol."""

from __future__ import annotations

from functools import cache

from experiments.running import each
from experiments.st_burst import Setting, measured
from experiments.st_formulas import retransmitted, retransmitted_by_all, sorted_once, sorted_pdus
from experiments.table import Cell, Scale, Table

SHARES = (0.5, 1.0)
"""d/n: ST with half of the entities as destinations, and TO."""
GRID = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
PRECISION = 0.05
COLUMNS = ("n", "d_of_n", "recovery", "quantity", "f", "value", "value_low", "value_high", "bursts")


def sizes(scale: Scale) -> tuple[int, ...]:
    """n = L."""
    return scale.of((5, 10), (5, 10, 20, 50))


def points(scale: Scale, *, go_back: bool) -> list[Setting]:
    """What is measured. The larger the cluster, the fewer points: a burst of 50 PDUs takes a second, with f = 0.2 15,
    and by go-back what is sent again is lost again."""
    rates = {5: (0.001, 0.01, 0.05, 0.2), 10: (0.001, 0.01, 0.05, 0.2), 20: (0.001, 0.01, 0.05), 50: (0.01,)}
    found = []
    for n in sizes(scale):
        for f in rates[n]:
            if scale is Scale.QUICK and f not in {0.01, 0.05}:
                continue
            if go_back and (n == 50 or f * n * n > 10):
                continue
            found += [Setting(n, share * n, f, n, go_back) for share in SHARES]
    return found


def _measured(work: tuple[Setting, float, int]) -> tuple[Cell, ...]:
    setting, precision, most = work
    sorted_, again, bursts = measured(setting, precision, most)
    return (*sorted_.cells, *again.cells, bursts)


@cache
def _results(scale: Scale, *, go_back: bool) -> tuple[tuple[Setting, tuple[Cell, ...]], ...]:
    """What each point came to; both figures show the same."""
    settings = points(scale, go_back=go_back)
    precision, most = scale.of((0.2, 40), (PRECISION, 4_000))
    results = each(_measured, [(setting, precision, most) for setting in settings])
    return tuple(zip(settings, results, strict=True))


def computed(scale: Scale) -> list[tuple[Cell, ...]]:
    """The equations as printed, and without the second (d/n)."""
    rows: list[tuple[Cell, ...]] = []
    for n in sizes(scale):
        for share in SHARES:
            for f in GRID:
                for recovery, quantity, formula in (
                    ("selective", "U/L", sorted_pdus),
                    ("selective", "U/L once", sorted_once),
                    ("selective", "R/L", retransmitted),
                    ("selective", "R/L once", retransmitted_by_all),
                ):
                    rows.append(
                        (n, share, recovery, quantity, f, formula(n, share * n, f, n) / n, None, None, None)
                    )
    return rows


def table(scale: Scale, *, go_back: bool) -> Table:
    """All points: selective retransmission, and where asked go-back."""
    found = _results(scale, go_back=False) + (_results(scale, go_back=True) if go_back else ())
    rows = computed(scale)
    for setting, result in found:
        at: tuple[Cell, ...] = (
            setting.n,
            setting.d / setting.n,
            "go-back" if setting.go_back else "selective",
        )
        if not setting.go_back:
            rows.append((*at, "sorted", setting.f, *result[:3], result[6]))
        rows.append((*at, "sent again", setting.f, *result[3:6], result[6]))
    return Table(
        COLUMNS,
        tuple(rows),
        (
            "1994, section 5, equations (1) to (5), with L = n; of L PDUs. `once`: without the (d/n) of P_l",
            "measured: ST on bursts of L PDUs, each sent by a random entity to d random ones; data PDUs are lost",
        ),
    )
