"""Theorems 1 and 2 against their numbers: least losses of set-cover data, optima that jump, radii.

    python benchmarks/check_theorems.py [--quick]

Set cover: for each instance the smallest cover by integer programming (HiGHS), and N/γ² times the least loss of one
ReLU over all patterns, on the data of Goel et al. and in general position with three draws of the noise. Theorem 2 says
that they are equal, and that a loss of at most t γ²/N is there exactly when t sets do, for every t.

Jumps: appendices D.1 and D.2 in rational arithmetic, E.2 by exhaustion in floats.

Generic data: patterns and the largest change of the optimum within the certified radius, in 16 and in 64 steps;
patterns that change just beyond the best possible one.
"""

from __future__ import annotations

import argparse

import table  # isort: skip
import numpy as np

from zonofit.geometry.stability import proof_radius, stability_radius
from zonofit.theory.continuity import drift, towards_the_break
from zonofit.theory.covers import greedy_cover, greedy_trap, partition, random_cover, smallest_cover
from zonofit.theory.discontinuity import EXAMPLES
from zonofit.theory.set_cover import least_norm_weights, nudge, reduce_to_relu, train_cover


def families(quick: bool) -> dict[str, list]:
    """Instances with known answers."""
    sizes = [(3, 4), (4, 5), (5, 5), (5, 6), (6, 6)][: 3 if quick else 5]
    found = {f"random {M} sets, {n} elements": [random_cover(M, n, seed) for seed in range(5)] for M, n in sizes}
    found["disjoint, 1 to 5 sets"] = [partition(M, 2 if M < 5 else 1) for M in range(1, 6)]
    found["greedy-adversarial, 6 elements"] = [greedy_trap(2)]
    if not quick:
        found["greedy-adversarial, 14 elements"] = [greedy_trap(3)]
    return found


def set_covers(quick: bool) -> None:
    """One row for each family."""
    table.head("instances  smallest covers  greedy  data sets  programs  wrong t  largest distance to t*  s")
    for name, instances in families(quick).items():
        wrong, off, programs, sets, seconds = 0, 0.0, 0, 0, 0.0
        sizes = [len(smallest_cover(instance)) for instance in instances]
        for instance, t_star in zip(instances, sizes, strict=True):
            noises = 1 if len(instance.elements) > 10 else 3
            data = [reduce_to_relu(instance, general=False), *(reduce_to_relu(instance, rng=k) for k in range(noises))]
            for reduction in data:
                spent, result = table.clock(train_cover, reduction)
                sets, programs, seconds = sets + 1, programs + result.trace.counts["programs"], seconds + spent / 1e3
                off = max(off, abs(result.level - t_star))
                wrong += sum(result.allows(t) != (t >= t_star) for t in range(len(instance.sets) + 1))
                wrong += result.cover is None or len(result.cover) != t_star
        greedy = " ".join(str(len(greedy_cover(instance))) for instance in instances)
        table.row(name, " ".join(map(str, sizes)), greedy, sets, programs, wrong, f"{off:.1e}", f"{seconds:.1f}")


def jumps() -> None:
    """Least losses at 0 and at ε, and lengths of the weights."""
    print()
    table.head("example  ε  at 0  at ε  new vertex  length of the weights times ε  proved")
    for name, example in EXAMPLES.items():
        for epsilon in ("1e-2", "1e-8", "1e-30"):
            jump = example.jump(epsilon)
            length = float(sum((x * jump.epsilon) ** 2 for x in jump.lifted.best.w)) ** 0.5
            table.row(
                name, epsilon, jump.flat.best.loss, jump.lifted.best.loss, "yes" if jump.is_new else "no",
                f"{length:.3f}", "yes" if jump.verify() else "no",
            )  # fmt: skip
    original = reduce_to_relu(partition(3), general=False)
    chosen = np.r_[False, np.ones(4, bool), np.zeros(3, bool)]
    for epsilon in (1e-2, 1e-4, 1e-6, 1e-7, 1e-8):
        moved = nudge(original, 0, epsilon)
        levels = [f"{train_cover(one).level:.6f} γ²/N" for one in (original, moved)]
        length = np.linalg.norm(least_norm_weights(moved, chosen)) * epsilon
        table.row("E.2, three disjoint sets", f"{epsilon:g}", *levels, "no", f"{length:.3f}", "–")


def generic(seeds: int) -> None:
    """Within and beyond the radii."""
    print()
    table.head("""N, d  proof radius  certified  best possible  patterns changed inside  largest step of 16  of 64
    changed beyond""")
    for N, d in ((8, 1), (8, 2), (7, 3)):
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            X, y = rng.standard_normal((N, d)), rng.standard_normal(N)
            found, moves = stability_radius(X), rng.standard_normal((N, d))
            moves /= np.linalg.norm(moves, axis=1)[:, None]
            paths = [drift(X, y, moves, np.linspace(0, 0.999 * found.radius, k + 1)) for k in (16, 64)]
            steps = [np.max(np.abs(np.diff(path.optimum))) for path in paths]
            beyond = drift(X, y, towards_the_break(X, found), [1.001 * found.tight_radius])
            table.row(
                f"{N}, {d}", f"{proof_radius(X):.2e}", f"{found.radius:.2e}", f"{found.tight_radius:.2e}",
                sum(int(path.changed.sum()) for path in paths), f"{steps[0]:.1e}", f"{steps[1]:.1e}", beyond.changed[0],
            )  # fmt: skip


def main() -> None:
    """All three tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small instances, one seed")
    arguments = parser.parse_args()
    train_cover(reduce_to_relu(partition(2), rng=0))
    set_covers(arguments.quick)
    jumps()
    generic(1 if arguments.quick else 3)


if __name__ == "__main__":
    main()
