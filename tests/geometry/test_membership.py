"""Every answer is checked against its certificate, in fractions, by code that membership.py does not share."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from zonofit.errors import InputError
from zonofit.geometry import membership as module
from zonofit.geometry.arrangement import Arrangement
from zonofit.geometry.membership import is_chamber, membership
from zonofit.geometry.packing import unpack

quick = settings(deadline=None, max_examples=30, derandomize=True)
tables = hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.integers(-2, 2))


def cube(d):
    return np.array(list(product([0.0, 1.0], repeat=d)))


def proved(generators, pattern, answer):
    """The definition, in fractions."""
    G = [[Fraction(x) for x in row] for row in np.asarray(generators, float).tolist()]
    s = [1 if bit else -1 for bit in pattern]
    if answer.feasible:
        assert answer.multipliers is None and answer.exact_multipliers is None
        values = [sum(x * y for x, y in zip(g, answer.exact_witness, strict=True)) for g in G]
        return all(si * v > 0 if any(g) else si == -1 for si, v, g in zip(s, values, G, strict=True))
    assert answer.witness is None and answer.exact_witness is None
    certificate = answer.exact_multipliers
    assert sum(certificate.values()) == 1 and min(certificate.values()) > 0
    np.testing.assert_allclose(answer.multipliers[list(certificate)], [float(m) for m in certificate.values()])
    if any(not any(G[i]) for i in certificate):  # a zero generator cannot be positive; negative means nothing
        return all(not any(G[i]) and s[i] == 1 for i in certificate)
    return all(sum(m * s[i] * G[i][j] for i, m in certificate.items()) == 0 for j in range(len(G[0])))


def feasible_patterns(generators):
    """All feasible patterns, each answer checked."""
    A = Arrangement(generators)
    found = set()
    for bits in product([False, True], repeat=A.n_generators):
        answer = membership(A, bits, arithmetic="dyadic")
        assert proved(A.generators, bits, answer)
        assert answer.verify()
        assert (answer.margin > 0) == answer.feasible
        if answer.feasible:
            found.add(bits)
            if answer.margin > 1e-10:
                assert tuple(np.sign(A.generators @ answer.witness) > 0) == bits
    return found


def enumerated(generators):
    A = Arrangement(generators)
    return {tuple(p) for block in A.chambers() for p in unpack(block, A.n_generators).tolist()}


def cover(N, n):
    return 2 * sum(comb(N - 1, k) for k in range(n))


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
@pytest.mark.parametrize(("N", "d"), [(8, 2), (6, 3), (3, 4), (7, 1)])
def test_generic_count(N, d, scale):
    X = np.random.default_rng(N).standard_normal((N, d)) * scale
    found = feasible_patterns(np.c_[X, np.ones(N)])
    assert len(found) == cover(N, d + 1)
    assert found == enumerated(np.c_[X, np.ones(N)])


@pytest.mark.parametrize(
    ("generators", "count"),
    [
        (np.c_[cube(2), np.ones(4)], 14),
        (np.c_[cube(3), np.ones(8)], 104),
        (cube(3)[1:], 32),
        (cube(3), 32),
        (np.c_[np.arange(6), np.zeros(6), np.ones(6)], 12),
        (np.zeros((3, 2)), 1),
        ([[2.0, -1.0]], 2),
        ([[1.0], [-2.0], [0.0]], 2),
        ([[1, 2], [2, 4], [-1, -2], [0, 0], [1, 0]], 4),
    ],
)
def test_degenerate_count(generators, count):
    found = feasible_patterns(generators)
    assert len(found) == count
    assert found == enumerated(generators)


@quick
@given(tables)
def test_small_integers_agree_with_enumeration(table):
    assert feasible_patterns(table) == enumerated(table)


@quick
@given(tables, st.randoms(use_true_random=False))
def test_symmetries(table, random):
    """Permuting generators permutes bits, positive factors change nothing, negative ones flip the bit."""
    N = len(table)
    order = random.sample(range(N), N)
    factors = np.array([random.choice([-1.0, 1.0]) * 2.0 ** random.randint(-30, 30) for _ in range(N)])
    live = np.any(table != 0, axis=1)
    A, B = Arrangement(table), Arrangement((factors[:, None] * table)[order])
    for _ in range(8):
        bits = np.array([random.random() < 0.5 for _ in range(N)])
        turned = (bits ^ ((factors < 0) & live))[order]
        assert is_chamber(A, bits) == is_chamber(B, turned)


def test_columns_of_very_different_scale():
    X = np.random.default_rng(1).integers(0, 2, (7, 3))
    expected = feasible_patterns(np.c_[X, np.ones(7)])
    assert feasible_patterns(np.c_[X * [1.0, 2.0**27, 2.0**-27], np.ones(7)]) == expected
    assert feasible_patterns(np.c_[X * [1.0, 1e8, 1e-8], np.ones(7)]) == expected


def test_exact_simplex_gives_the_same_answers(monkeypatch):
    rng = np.random.default_rng(2)
    tables = [rng.standard_normal((7, 3)), rng.integers(-1, 2, (7, 3)), np.c_[cube(2), np.ones(4)] * 1e-8]
    expected = [feasible_patterns(G) for G in tables]
    monkeypatch.setattr(module, "_guesses", lambda *_: iter(()))
    assert [feasible_patterns(G) for G in tables] == expected


def test_wrong_guesses_are_not_believed(monkeypatch):
    """Whatever the floats suggest, a wrong answer has no proof."""
    G = np.random.default_rng(3).standard_normal((6, 3))
    expected = feasible_patterns(G)
    junk = [("witness", np.ones(3)), ("circuit", np.arange(4)), ("circuit", np.arange(2)), ("witness", -np.ones(3))]
    monkeypatch.setattr(module, "_guesses", lambda *_: iter(junk))
    assert feasible_patterns(G) == expected


def test_rounding_makes_chambers_and_the_margin_tells():
    """3 (0.1, 0.2, 0.3) is not (0.3, 0.6, 0.9) in binary: a sliver lies between the two hyperplanes."""
    G = np.array([[0.1, 0.2, 0.3], [0.3, 0.6, 0.9], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]])
    assert 3 * Fraction(0.1) != Fraction(0.3)
    A = Arrangement(G)
    between = membership(A, [True, False, True, False], arithmetic="dyadic")
    assert between.feasible and proved(G, between.pattern, between)
    assert between.margin < 1e-15
    assert membership(A, [True, True, True, False]).margin > 1e-3


@pytest.mark.parametrize("scale", [0.1, 1 / 3, 1e-8, 0.07])
def test_typed_numbers_are_what_was_meant(scale):
    """Rounded grids have slivers as stored; as rationals they have the chambers of the grid."""
    grid = np.array(list(product([1, 2, 3], repeat=2)))
    meant = Arrangement.from_examples(grid)
    typed = Arrangement.from_examples(grid * scale)
    listed = enumerated(meant.generators)
    assert enumerated(typed.generators) == listed
    stored = 0
    for bits in product([False, True], repeat=9):
        answer = membership(typed, bits, arithmetic="rational")
        assert answer.arithmetic == "rational" and answer.verify()
        assert answer.feasible == (bits in listed)
        sliver = membership(typed, bits, arithmetic="dyadic")
        assert sliver.verify() and (sliver.feasible or not answer.feasible)
        assert sliver.feasible == answer.feasible or sliver.margin < 1e-14
        stored += sliver.feasible
    if scale == 0.1:
        assert stored > len(listed)


def test_numbers_that_are_not_short_are_taken_as_stored():
    A = Arrangement(np.random.default_rng(6).standard_normal((5, 2)))
    answer = membership(A, A.pattern([1.0, 2.0]), arithmetic="rational")
    assert answer.arithmetic == "dyadic" and answer.feasible and answer.verify()
    with pytest.raises(InputError, match="arithmetic"):
        membership(A, np.zeros(5), arithmetic="float")


def test_thin_chamber_gets_a_witness():
    gap = 1e-12
    G = np.array([[1.0, 0.0], [1.0, gap], [0.0, 1.0]])
    found = feasible_patterns(G)
    assert len(found) == 6
    sliver = membership(Arrangement(G), [False, True, True])
    assert sliver.feasible and 0 < sliver.margin < 1.0


def test_every_certificate_is_checked():
    A = Arrangement.from_examples(cube(2))
    yes, no = membership(A, [False, False, False, True]), membership(A, [True, False, False, True])
    assert yes.feasible and not no.feasible
    assert no.exact_multipliers == {i: Fraction(1, 4) for i in range(4)}
    assert yes.verify() and no.verify()
    assert not replace(yes, exact_witness=tuple(-x for x in yes.exact_witness)).verify()
    assert not replace(yes, exact_witness=None).verify()
    assert not replace(yes, pattern=~yes.pattern).verify()
    assert not replace(yes, feasible=False).verify()
    assert not replace(no, feasible=True).verify()
    assert not replace(no, exact_multipliers={}).verify()
    assert not replace(no, exact_multipliers=no.exact_multipliers | {0: Fraction(1, 3)}).verify()
    assert not replace(no, exact_multipliers={i: -m for i, m in no.exact_multipliers.items()}).verify()
    assert not replace(no, pattern=yes.pattern).verify()


def test_set_bit_on_a_zero_generator():
    A = Arrangement([[0.0, 0.0], [1.0, 2.0]])
    answer = membership(A, [True, True])
    assert answer.exact_multipliers == {0: 1} and answer.verify()
    assert is_chamber(A, [False, True])
    assert not replace(answer, pattern=np.array([False, True])).verify()


def test_larger_instances():
    rng = np.random.default_rng(4)
    A = Arrangement(rng.standard_normal((300, 12)))
    inside = membership(A, A.pattern(rng.standard_normal(12)))
    outside = membership(A, rng.random(300) < 0.5)
    assert inside.feasible and inside.verify()
    assert not outside.feasible and outside.verify() and len(outside.exact_multipliers) == 13


@pytest.mark.parametrize("pattern", [[True], [0, 1, 2], [[0, 1, 1]], [-1, 1, 1], "abc", [0.5, 0, 0], ["0", "1", "1"]])
def test_bad_patterns(pattern):
    with pytest.raises(InputError, match="pattern"):
        membership(Arrangement(np.eye(3)), pattern)


def test_signs_that_rounding_gets_wrong():
    """Sums that cancel: their float signs are often wrong, a proof never is."""
    rng = np.random.default_rng(5)
    G = rng.standard_normal((400, 6))
    G[:, -1] = -np.sum(G[:, :-1], axis=1)
    w = np.ones(6)
    exact = [sum(map(Fraction, row)) for row in G.tolist()]
    misled = [i for i in range(400) if (G[i] @ w > 0) != (exact[i] > 0)]
    assert len(misled) > 10
    for i in range(400):
        for bit in (False, True):
            proof = module._exact_signs_agree(
                module._Generators(G[i : i + 1], None), np.array([bit]), np.array([True]), w
            )
            assert proof == (exact[i] > 0 if bit else exact[i] < 0)
