"""Newton steps of the vertex program, the wall that stops them, and what is kept up to date: kernels."""

from __future__ import annotations

from numba import njit

from zonofit.programs._factor_kernel import solve_transposed, solve_upper
from zonofit.programs._frame_kernel import CORE, FREE, WALL, apply, dot, length_of, weighted

TIGHT = 1e-11  # a wall is tight when x·w is at most this, in units of |x||w|

_EPS = 2.220446049250313e-16
_SLIDE = 1e-11  # a rate below this, in units of |x||d|, does not lead through a wall


@njit(**CORE)
def recompute(XT, A, v, h, base, fuzz, ridge, W, W0, dW, far, on, Z, nu, noise, line):
    """Compute Z and nu again; the value, how far it has come from where the solve began, and how much is rounding.

    Predictions are taken from the change of the weights, not from the weights: where large ones cancel, only the change
    says which way is down. ``fuzz`` is how much of ν at the start, ``base``, is rounding.
    """
    m, N = Z.shape
    r = XT.shape[0]
    for i in range(N):
        nu[i] = far[0]
        noise[i] = abs(far[0])
    squares, change = 0.0, 0.0
    for j in range(m):
        apply(XT, W[j], Z[j])
        begun, gone = 0.0, 0.0
        for b in range(r):
            begun += W0[j, b] ** 2
            gone += dW[j, b] ** 2
            squares += W[j, b] ** 2
            change += ridge * dW[j, b] * (W0[j, b] + 0.5 * dW[j, b])
        for i in range(N):
            if on[j, i] == WALL:
                Z[j, i] = 0.0
        if gone == 0.0:
            continue
        if begun == 0.0:
            for i in range(N):
                if A[j, i]:
                    nu[i] += v[j] * Z[j, i]
                    noise[i] += abs(v[j] * Z[j, i])
            continue
        apply(XT, dW[j], line)
        for i in range(N):
            if on[j, i] == WALL:  # its preactivation is 0 now, and if it was before, then nothing but rounding moved
                s, large = 0.0, 0.0
                for b in range(r):
                    s += XT[b, i] * W0[j, b]
                    large += abs(XT[b, i] * W0[j, b])
                line[i] = -s if abs(s) > TIGHT * large else 0.0
            if A[j, i]:
                nu[i] += v[j] * line[i]
                noise[i] += abs(v[j] * line[i])
    value, floor = 0.5 * ridge * squares, 0.0
    for i in range(N):
        if h[i] > 0.0:
            change += nu[i] * (base[i] + 0.5 * h[i] * nu[i])
    for i in range(N):
        nu[i] = base[i] + h[i] * nu[i]
        noise[i] = fuzz[i] + _EPS * h[i] * noise[i]
    for i in range(N):
        if h[i] > 0.0:
            value += 0.5 * nu[i] * nu[i] / h[i]
            floor += noise[i] * noise[i] / h[i]
    for i in range(N):
        noise[i] += _EPS * abs(nu[i])
    return value, change, floor


@njit(**CORE)
def fuzz_of(exact, A, v, h, t, c, Z, base, fuzz):
    """How much of ν at the start is rounding, into fuzz: its own where it defines a model, else that of predictions."""
    for i in range(t.size):
        fuzz[i] = _EPS * (abs(base[i]) if exact else h[i] * (abs(c[0]) + abs(t[i])))
    if exact:
        return
    for j in range(v.size):
        for i in range(t.size):
            if A[j, i]:
                fuzz[i] += _EPS * h[i] * abs(v[j] * Z[j, i])


@njit(**CORE)
def grain(A, v, h, t, c, Z):
    """How much of the value is rounding in the predictions as they follow from the weights."""
    blur = 0.0
    for i in range(t.size):
        s = abs(c[0]) + abs(t[i])
        for j in range(v.size):
            if A[j, i]:
                s += abs(v[j] * Z[j, i])
        blur += h[i] * (_EPS * s) ** 2
    return blur


@njit(**CORE)
def newton_step(p, ridge, W, nu, nk, own, B, PT, R, slot, x, delta):
    """The Newton step in the columns, into delta; twice the decrease that it promises."""
    r = W.shape[1]
    before, a = -2, 0
    for k in range(p):
        s = dot(PT[slot[k]], nu)
        j = own[k]
        a = a + 1 if j == before else 0
        before = j
        if ridge > 0.0 and j >= 0:
            for b in range(r):
                s += ridge * W[j, b] * B[j, nk[j] + a, b]
        x[k] = s
    solve_transposed(R, p, x)
    decrement = 0.0
    for k in range(p):
        decrement += x[k] * x[k]
    for k in range(p):
        delta[k] = -x[k]
    solve_upper(R, p, delta)
    return decrement


@njit(**CORE)
def blocked(step, XT, size, side, D, K, nk, nf, on, Z, Q):
    """Preactivation rates Q of the units that move; how far they get, and the unit and wall that stop them (or -1)."""
    N = XT.shape[1]
    unit, wall = -1, -1
    for j in range(nf.size):
        if nf[j] == 0:
            continue
        slide = _SLIDE * length_of(D[j])
        if slide == 0.0:
            Q[j] = 0.0
            continue
        q, z, s = Q[j], Z[j], side[j]
        apply(XT, D[j], q)
        meets = 0
        for i in range(N):
            meets += (s[i] * (z[i] + step * q[i]) < 0.0) & (s[i] * q[i] < -slide * size[i])
        for k in range(nk[j]):
            q[K[j, k]] = 0.0
        if meets > 0:
            for i in range(N):
                y = s[i] * q[i]
                if y < -slide * size[i] and s[i] * z[i] < -y * step and on[j, i] == FREE:
                    step, unit, wall = max(s[i] * z[i], 0.0) / -y, j, i
    return step, unit, wall


@njit(**CORE)
def steepest(score, XT, A, v, S, D, nf, Q, rate):
    """Make the projected gradients of the released units the direction."""
    rate[:] = 0.0
    for j in range(nf.size):
        D[j] = 0.0
        if nf[j] == 0 or score[j] >= 0.0:
            continue
        for b in range(D.shape[1]):
            D[j, b] = S[j, b]
        apply(XT, D[j], Q[j])
        for i in range(rate.size):
            if A[j, i]:
                rate[i] += v[j] * Q[j, i]


@njit(**CORE)
def least_step(h, nu, ridge, W, D, rate):
    """The step to the least value along the direction: 1 for a Newton step but for rounding, 0 if it leads upwards."""
    slope, curve = dot(nu, rate), weighted(h, rate, rate)
    if ridge > 0.0:
        for j in range(W.shape[0]):
            for b in range(W.shape[1]):
                slope += ridge * W[j, b] * D[j, b]
                curve += ridge * D[j, b] ** 2
    return -slope / curve if slope < 0.0 and curve > 0.0 else 0.0


@njit(**CORE)
def move(step, dc, D, Q, rate, h, ridge, nf, W, W0, dW, c, c0, far, Z, nu):
    """Take the step; the decrease."""
    m, N = Z.shape
    r = W.shape[1]
    gain = 0.0
    for j in range(m):
        if nf[j] == 0:
            continue
        for b in range(r):
            gain -= ridge * step * D[j, b] * (W[j, b] + 0.5 * step * D[j, b])
        for b in range(r):
            dW[j, b] += step * D[j, b]
            W[j, b] = W0[j, b] + dW[j, b]
        for i in range(N):
            Z[j, i] += step * Q[j, i]
    far[0] += step * dc
    c[0] = c0 + far[0]
    for i in range(N):
        y = step * rate[i]
        gain -= y * (nu[i] + 0.5 * h[i] * y)
    for i in range(N):
        nu[i] += h[i] * step * rate[i]
    return gain
