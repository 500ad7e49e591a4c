"""Agreement as it is printed: tables of the literature and published data sets.

Numbers come from the papers, from irrCAC (R 1.0 and Python 0.4.4, which agree), from R's irr and
psych, and from what the authors of the data sets published; ``data/README.md`` names the sources.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from calibrant.stats import icc
from calibrant.stats.agreement import of_pair, of_set
from calibrant.stats.alpha import alpha_of
from calibrant.stats.counts import ABSENT, counts_of, pair_tables, patterns
from calibrant.stats.estimate import Design, Estimate, Method
from calibrant.stats.gwet import gwet_ac
from calibrant.stats.kappa import brennan_prediger, cohen, cohen_error, conger, fleiss
from calibrant.stats.moments import by_rater, exchangeable
from calibrant.stats.runs import Codes
from calibrant.stats.weights import Level, Ruler, Weights, agreement_weights

DATA = Path(__file__).parent / "data"
Table = NDArray[np.int64]


def ruler(level: Level, points: Sequence[float]) -> Ruler:
    labels = tuple(f"{point:g}" for point in points)
    return Ruler(labels, level, np.array(points, np.float64), level != "nominal")


def coded(rows: Sequence[Sequence[str]], values: Sequence[str]) -> Codes:
    """Ratings as written, a row for each rater, as codes; a dot or nothing is no rating."""
    place = {"": ABSENT, ".": ABSENT} | {value: code for code, value in enumerate(values)}
    return np.array([[place[one] for one in row] for row in rows], np.uint8)


def read(name: str) -> dict[str, list[str]]:
    """A file of the folder by column."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {title: [row[at] for row in rows] for at, title in enumerate(header)}


def repeated(table: dict[str, list[str]]) -> Codes:
    """How many raters chose each category, as codes of raters in no order."""
    rows = zip(*(map(int, column) for column in table.values()), strict=True)
    return np.array([np.repeat(np.arange(len(table)), row) for row in rows], np.uint8).T


def by_name(found: list[Estimate]) -> dict[str, Estimate]:
    out = {one.name: one for one in found}
    assert len(out) == len(found)
    return out


def values_of(found: list[Estimate]) -> dict[str, float]:
    return {one.name: one.value for one in found if one.value is not None}


def with_method(
    codes: Codes, level: Level, points: Sequence[float], method: Method = "t"
) -> dict[str, Estimate]:
    return by_name(of_set(codes, ruler(level, points), Design(method)))


def near(expected: float, digits: int) -> object:
    """Equal to as many digits after the point as are printed."""
    return pytest.approx(expected, abs=0.5000001 * 10**-digits)


# -- Krippendorff 2011, Computing Krippendorff's Alpha-Reliability

FOUR_OBSERVERS = coded(["123321412...", "1233224125.3", ".3332342251.", "12332441251."], "12345")


@pytest.mark.parametrize(
    ("level", "expected"),
    [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107), ("ratio", 0.797403)],
)
def test_alpha_of_four_observers_with_gaps(level: Level, expected: float) -> None:
    found = with_method(FOUR_OBSERVERS, level, [1, 2, 3, 4, 5])
    one = found[f"krippendorff_alpha:{level}"]
    assert one.value == near(expected, 6)
    assert one.n_items == 11  # the unit that one observer rated tells nothing


@pytest.mark.parametrize(
    ("first", "second", "values", "expected"),
    [
        ("0100000010", "1110010000", "01", 0.095238),
        ("aabbdcccedda", "babbbccceddd", "abcde", 0.691964),
    ],
)
def test_nominal_alpha_of_two_observers(
    first: str, second: str, values: str, expected: float
) -> None:
    codes = coded([first, second], values)
    of_values = ruler("nominal", range(len(values)))
    pair = of_pair(pair_tables(codes, len(values))[0, 1], of_values, Design("t"))
    for found in (of_set(codes, of_values, Design("t")), pair):
        assert by_name(found)["krippendorff_alpha:nominal"].value == near(expected, 6)


# -- Gwet 2014, four raters and twelve items

RAW_4 = coded(list(read("raw4raters.csv").values()), "12345")


def test_four_raters_without_weights() -> None:
    found = with_method(RAW_4, "nominal", [1, 2, 3, 4, 5])
    expected = {
        "gwet_ac": (0.77544, 0.14295, 0.461),
        "fleiss_kappa": (0.76117, 0.15302, 0.424),
        "conger_kappa": (0.76282, 0.14917, 0.435),
        "krippendorff_alpha:nominal": (0.74342, 0.14557, 0.419),
        "brennan_prediger": (0.77273, 0.14472, 0.454),
    }
    for name, (value, se, low) in expected.items():
        one = found[name]
        assert one.value == near(value, 5), name
        assert one.se == near(se, 5), name
        assert one.interval is not None
        assert one.interval == (near(low, 3), 1.0), name
        assert one.method == "t"
    assert found["percent"].value == near(0.81818, 5)


def test_four_raters_with_quadratic_weights() -> None:
    found = with_method(RAW_4, "interval", [1, 2, 3, 4, 5])
    expected = {
        "gwet_ac:quadratic": (0.91400, 0.10396),
        "fleiss_kappa:quadratic": (0.86494, 0.14603),
        "conger_kappa:quadratic": (0.85771, 0.14367),
        "krippendorff_alpha:interval": (0.84911, 0.12913),
        "brennan_prediger:quadratic": (0.90152, 0.11089),
    }
    for name, (value, se) in expected.items():
        assert (found[name].value, found[name].se) == (near(value, 5), near(se, 5)), name


def test_four_raters_with_linear_weights() -> None:
    found = with_method(RAW_4, "ordinal", [1, 2, 3, 4, 5])
    expected = {
        "gwet_ac:linear": (0.85874, 0.11733),
        "fleiss_kappa:linear": (0.81794, 0.14850),
        "conger_kappa:linear": (0.81378, 0.14509),
        "brennan_prediger:linear": (0.84848, 0.12336),
    }
    for name, (value, se) in expected.items():
        assert (found[name].value, found[name].se) == (near(value, 5), near(se, 5)), name


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("linear", (0.85874, 0.81794, 0.81378, 0.80038, 0.84848)),
        ("quadratic", (0.91400, 0.86494, 0.85771, 0.84911, 0.90152)),
        ("ordinal", (0.89894, 0.85021, 0.84366, 0.83364, 0.88636)),
    ],
)
def test_four_raters_with_any_weights(kind: Weights, expected: tuple[float, ...]) -> None:
    """Gwet's ordinal weights are not Krippendorff's ordinal distance: .83364 is not .81539."""
    weights = agreement_weights(kind, np.arange(5.0))
    alone = exchangeable(counts_of(patterns(RAW_4, 5), 5))
    together = by_rater(patterns(RAW_4, 5), 5)
    paired = alone.only(counts_of(patterns(RAW_4, 5), 5).counts.sum(axis=1) >= 2)
    sums, named, pairs = (rows.read(rows.sums()) for rows in (alone, together, paired))
    found = (
        gwet_ac(sums, weights),
        fleiss(sums, weights),
        conger(named, weights),
        alpha_of(pairs.coincidences, 1 - weights),
        brennan_prediger(sums, weights),
    )
    assert [float(one) for one in found] == [near(one, 5) for one in expected]


# -- further tables of Gwet 2014

RAW_5 = coded(list(read("raw5obser.csv").values()), "0123")


@pytest.mark.parametrize(
    ("name", "value", "se", "limits"),
    [
        ("gwet_ac", 0.49662205, 0.12197337, (0.2350152, 0.75822891)),
        ("fleiss_kappa", 0.45762169, 0.12045007, (0.19928198, 0.7159614)),
        ("conger_kappa", 0.46927428, 0.11666345, (0.21905605, 0.7194925)),
        ("krippendorff_alpha:nominal", 0.48053024, 0.11350753, (0.2370808, 0.72397968)),
        ("brennan_prediger", 0.48740741, 0.12089159, (0.22812074, 0.74669407)),
        ("gwet_ac:linear", 0.68963942, 0.08769076, (0.50156145, 0.8777174)),
        ("fleiss_kappa:linear", 0.61185004, 0.10973874, (0.37648385, 0.84721624)),
        ("conger_kappa:linear", 0.62405242, 0.10587006, (0.39698373, 0.8511211)),
        ("brennan_prediger:linear", 0.66577778, 0.08567656, (0.48201984, 0.84953572)),
        ("gwet_ac:quadratic", 0.83043357, 0.05824641, (0.70550746, 0.95535969)),
        ("fleiss_kappa:quadratic", 0.75071913, 0.09732069, (0.54198701, 0.95945125)),
        ("conger_kappa:quadratic", 0.76178806, 0.09250482, (0.56338495, 0.96019117)),
        ("krippendorff_alpha:interval", 0.77186481, 0.08608133, (0.58723871, 0.9564909)),
        ("brennan_prediger:quadratic", 0.80622222, 0.05859544, (0.68054751, 0.93189693)),
    ],
)
def test_five_observers_with_gaps(
    name: str, value: float, se: float, limits: tuple[float, float]
) -> None:
    one = with_method(RAW_5, "interval", [0, 1, 2, 3])[name]
    assert (one.value, one.se) == (near(value, 8), near(se, 7))
    assert one.interval == (near(limits[0], 6), near(limits[1], 6))


@pytest.mark.parametrize(
    ("file", "name", "value", "se"),
    [
        ("distrib6raters.csv", "gwet_ac", 0.44480073, 0.08418757),
        ("distrib6raters.csv", "fleiss_kappa", 0.4139265, 0.08119291),
        ("distrib6raters.csv", "krippendorff_alpha:nominal", 0.42043843, 0.08119291),
        ("distrib6raters.csv", "brennan_prediger", 0.43888889, 0.08312142),
        ("dist4cat.csv", "gwet_ac", 0.35189032, 0.11259822),
        ("dist4cat.csv", "fleiss_kappa", 0.34618609, 0.11767334),
        ("dist4cat.csv", "krippendorff_alpha:nominal", 0.35708298, 0.11767334),
        ("dist4cat.csv", "brennan_prediger", 0.35, 0.11391308),
    ],
)
def test_distributions_of_raters(file: str, name: str, value: float, se: float) -> None:
    codes = repeated(read(file))
    nominal = ruler("nominal", range(1 + int(codes.max())))
    found = by_name(of_set(codes, nominal, Design("t"), anonymous=True))
    assert (found[name].value, found[name].se) == (near(value, 8), near(se, 7))
    assert "conger_kappa" not in found  # nobody knows who gave which answer


# -- two raters

ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
COHEN_1960 = np.array([[50, 26, 24], [24, 4, 32], [6, 30, 4]])
COHEN_1968 = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])


def test_three_by_three_abstractors() -> None:
    """irrCAC divides by n where it is given a table, and by n - 1 where it is given ratings.

    We divide by n - 1 throughout, but for Cohen's kappa, whose formula is published.
    """
    found = by_name(of_pair(ABSTRACTORS, ruler("nominal", range(3)), Design("t")))
    printed = {
        "fleiss_kappa": (0.7962397, 0.05905473),  # which is Scott's pi for two
        "gwet_ac": (0.8493305, 0.04321747),
        "krippendorff_alpha:nominal": (0.7972585, 0.05905473),
        "brennan_prediger": (0.835, 0.04693346),
        "percent": (0.89, 0.03128898),
    }
    for name, (value, by_n) in printed.items():
        se = by_n * (100 / 99) ** 0.5
        assert (found[name].value, found[name].se) == (near(value, 7), near(se, 7)), name
    kappa = found["cohen_kappa"]
    assert (kappa.value, kappa.se) == (near(0.7964094, 7), near(0.05891072, 8))
    assert kappa.interval == (near(0.680, 3), near(0.913, 3))


def test_three_by_three_abstractors_with_quadratic_weights() -> None:
    found = values_of(of_pair(ABSTRACTORS, ruler("interval", range(3)), Design("t")))
    assert {name: found[name] for name in found if "quadratic" in name or "interval" in name} == {
        "cohen_kappa:quadratic": near(0.89216, 5),
        "fleiss_kappa:quadratic": near(0.89211, 5),
        "gwet_ac:quadratic": near(0.94024, 5),
        "krippendorff_alpha:interval": near(0.89265, 5),
        "brennan_prediger:quadratic": near(0.91750, 5),
    }


def test_cohen_1960() -> None:
    found = by_name(of_pair(COHEN_1960, ruler("nominal", range(3)), Design("normal")))
    assert found["cohen_kappa"].value == near(-0.0923, 4)


def test_cohen_1968() -> None:
    found = by_name(of_pair(COHEN_1968, ruler("ordinal", range(3)), Design("normal")))
    expected = {
        "cohen_kappa": (0.491525, 0.051002),
        "cohen_kappa:linear": (0.473684, 0.054432),
        "cohen_kappa:quadratic": (0.454545, 0.066454),
    }
    for name, (value, se) in expected.items():
        assert (found[name].value, found[name].se) == (near(value, 6), near(se, 6)), name
        weights = agreement_weights(found[name].weights, np.arange(3.0))
        table = COHEN_1968.astype(np.float64)
        assert float(cohen(table, weights)) == near(value, 6)
        assert float(cohen_error(table, weights)) == near(se, 6)
    assert found["cohen_kappa"].interval == (near(0.39156, 5), near(0.59149, 5))


def test_cohen_1968_with_weights_of_disagreement() -> None:
    weights = 1 - np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]]) / 6
    table = COHEN_1968.astype(np.float64)
    assert float(cohen(table, weights)) == near(0.347826, 6)
    assert float(cohen_error(table, weights)) == near(0.075504, 6)


# -- Fleiss 1971, and his table in the encyclopaedia

DIAGNOSES = coded(list(read("fleiss1971.csv").values()), "12345")


def test_thirty_diagnoses_by_six_psychiatrists() -> None:
    found = values_of(of_set(DIAGNOSES, ruler("nominal", range(5)), Design("t")))
    assert found["fleiss_kappa"] == near(0.4302445, 7)
    assert found["conger_kappa"] == near(0.44181, 5)


def test_kappa_of_each_diagnosis_against_all_others() -> None:
    expected = (0.245, 0.245, 0.520, 0.471, 0.566)
    for category, kappa in enumerate(expected):
        alike = np.equal(DIAGNOSES, category).astype(np.uint8)
        found = values_of(of_set(alike, ruler("nominal", range(2)), Design("t")))
        assert found["fleiss_kappa"] == near(kappa, 3), category


def test_light_is_the_mean_of_cohen_over_pairs() -> None:
    tables = pair_tables(DIAGNOSES, 5)
    pairs = [of_pair(tables[a, b], ruler("nominal", range(5)), Design("t")) for a, b in pairs_of(6)]
    kappas = [values_of(found)["cohen_kappa"] for found in pairs]
    assert float(np.mean(kappas)) == near(0.45941, 5)


def pairs_of(raters: int) -> list[tuple[int, int]]:
    return list(combinations(range(raters), 2))


def test_fleiss_and_randolph_of_ten_items_by_fourteen_raters() -> None:
    rows = (
        "0 0 0 0 14|0 2 6 4 2|0 0 3 5 6|0 3 9 2 0|2 2 8 1 1|"
        "7 7 0 0 0|3 2 6 3 0|2 5 3 2 2|6 5 2 1 0|0 2 2 3 7"
    )
    table = zip(*(row.split() for row in rows.split("|")), strict=True)
    codes = repeated({str(at): list(column) for at, column in enumerate(table)})
    found = values_of(of_set(codes, ruler("nominal", range(5)), Design("t"), anonymous=True))
    assert found["fleiss_kappa"] == near(0.209931, 6)
    assert found["brennan_prediger"] == near(0.222527, 6)  # Randolph's free-marginal kappa


# -- Shrout and Fleiss 1979

JUDGES = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)


@pytest.mark.parametrize(
    ("form", "value", "limits", "digits"),
    [
        ("ICC(1,1)", 0.165742, (-0.13, 0.72), 2),
        ("ICC(2,1)", 0.289764, (0.01879, 0.76108), 5),
        ("ICC(3,1)", 0.714841, (0.34, 0.95), 2),
        ("ICC(1,k)", 0.442797, (-0.88, 0.91), 2),
        ("ICC(2,k)", 0.620051, (0.07, 0.93), 2),
        ("ICC(3,k)", 0.909316, (0.68, 0.99), 2),
    ],
)
def test_six_forms_of_the_intraclass_correlation(
    form: str, value: float, limits: tuple[float, float], digits: int
) -> None:
    codes = (JUDGES.T - 1).astype(np.uint8)
    found = with_method(codes, "interval", range(1, 11))[f"icc:{form}"]
    assert found.value == near(value, 6)
    assert found.interval == (near(limits[0], digits), near(limits[1], digits))
    assert (found.method, found.n_items, found.n_ratings) == ("F", 6, 24)


# -- published data sets


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        ("informativeness", 0.2848732349364207),
        ("relevance", 0.11512128779864284),
        ("fluency", -0.015808123685552733),
        ("coherence", 0.06497202567878013),
    ],
)
def test_newsroom(criterion: str, expected: float) -> None:
    columns = read("newsroom.csv")
    codes = coded([columns[f"{criterion}_{n}"] for n in (1, 2, 3)], "12345")
    found = with_method(codes, "ordinal", range(1, 6), "fisher")
    assert found["krippendorff_alpha:ordinal"].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        ("grammar", 0.41512699786609375),
        ("fluency", 0.43239839448968664),
        ("verbosity", 0.3991422935197101),
        ("structure", 0.3985577014111057),
        ("success", 0.3627155704454662),
        ("overall", 0.4351007794425691),
    ],
)
def test_recipes(criterion: str, expected: float) -> None:
    """88 raters, of whom an item has seen 15 to 88."""
    columns = read("recipes.csv")
    items, raters = (np.array(columns[name], np.int64) for name in ("item", "rater"))
    codes = np.full((88, 52), ABSENT, np.uint8)
    codes[raters, items] = np.array(columns[criterion], np.int64) - 1
    found = with_method(codes, "ordinal", range(1, 7), "fisher")
    one = found["krippendorff_alpha:ordinal"]
    assert one.value == pytest.approx(expected, abs=1e-12)
    assert (one.n_items, one.n_ratings) == (52, 1056)


HANNA = {  # of one rating, of the mean of three
    "relevance": (0.137622, 0.323755),
    "coherence": (-0.0547567, -0.184472),
    "empathy": (0.115955, 0.282378),
    "surprise": (0.0512276, 0.1394),
    "engagement": (0.180231, 0.397433),
    "complexity": (0.278044, 0.536044),
}


@pytest.mark.parametrize("criterion", HANNA)
def test_hanna(criterion: str) -> None:
    """No column is one person, so two-way forms are refused.

    The paper gives them all the same. They depend on who stands in which column, and that order
    has been lost: they cannot be found again.
    """
    columns = read("hanna.csv")
    codes = coded([columns[f"{criterion}_{n}"] for n in (1, 2, 3)], "12345")
    found = by_name(of_set(codes, ruler("interval", range(1, 6)), Design("fisher"), anonymous=True))
    single, mean = HANNA[criterion]
    assert found["icc:ICC(1,1)"].value == near(single, 6)
    assert found["icc:ICC(1,k)"].value == near(mean, 6)
    for form in icc.TWO_WAY:
        assert found[f"icc:{form}"].value is None
        assert "not the same rater" in str(found[f"icc:{form}"].undefined)


def test_pandalm() -> None:
    codes = coded(list(read("pandalm.csv").values()), "012")
    tables = pair_tables(codes, 3)
    found = [of_pair(tables[a, b], ruler("nominal", range(3)), Design()) for a, b in pairs_of(3)]
    kappas = [values_of(pair)["cohen_kappa"] for pair in found]
    assert kappas == [near(0.8520, 4), near(0.8789, 4), near(0.8617, 4)]
