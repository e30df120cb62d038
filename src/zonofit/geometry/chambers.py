"""temporary stand-in"""
from itertools import combinations
import numpy as np
from zonofit.geometry.bijection import chamber_of_subset, frame_coordinates
from zonofit.geometry.packing import pack

def iter_chambers(reduction, *, block_size=65536, half=False, n_jobs=1):
    simple = reduction.simple
    M, r = simple.shape
    if M == 0:
        yield pack(reduction.expand(np.zeros((1, 0), bool))); return
    Y, _ = frame_coordinates(simple)
    rows = []
    for k in range(r):
        for S in combinations(range(M - 1), k):
            s = chamber_of_subset(Y, S, 1e-9)
            if s is not None:
                rows.append(s > 0)
    P = np.array(rows)
    if not half: P = np.vstack([P, ~P])
    yield pack(reduction.expand(P))
