"""What `zonofit demo` costs: with an empty numba cache, as after installation, and ever after.

python benchmarks/bench_demo.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time


def demo(environment: dict[str, str], out: str) -> float:
    """Seconds of one run, from starting Python to its end."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "zonofit", "demo", "--out", out], env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - begin


if __name__ == "__main__":
    cold, warm = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": os.path.join(folder, "cache")}
            cold.append(demo(environment, os.path.join(folder, "out")))
            warm += [demo(environment, os.path.join(folder, "out")) for _ in range(3)]
    print(f"cold: {statistics.median(cold):.1f} s (median of {len(cold)})")
    print(f"warm: {statistics.median(warm):.2f} s (median of {len(warm)})")
