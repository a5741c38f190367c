"""Times the way from a file to a Gaussian naive Bayes model: 500,000 rows of 32 numbers and a label, as CSV and as
Parquet. Start it with bench/files.

abduce is a command, polars with scikit-learn a Python process that imports, reads, fits and ends. Both are timed from
start to end, alternately. The log-likelihoods must agree to 1e-8, or the exit code is 1; it never depends on time.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars

HERE = Path(__file__).resolve().parent
DEFAULT_BINARY = HERE.parent / "target" / "release" / "abduce"

PEER = """
import sys
import numpy as np
import polars
from sklearn.naive_bayes import GaussianNB
path = sys.argv[1]
frame = polars.read_csv(path) if path.endswith(".csv") else polars.read_parquet(path)
labels = frame["label"].to_numpy()
x = frame.drop("label").to_numpy()
model = GaussianNB(var_smoothing=0).fit(x, labels)
"""
LIKELIHOOD = "print(repr(float(model.predict_joint_log_proba(x)[np.arange(len(x)), np.searchsorted(model.classes_, labels)].sum())))"


def arguments():
    parser = argparse.ArgumentParser(prog="bench/files", description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000, metavar="N", help="rows of the table (default 500000)")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each program (default 3)")
    parser.add_argument("--threads", default="2", metavar="N", help="threads of both programs (default 2)")
    return parser.parse_args()


def tables(rows):
    """The table as CSV and as Parquet, written once."""
    folder = HERE / ".data" / f"files-{rows}x32"
    paths = [folder / "table.csv", folder / "table.parquet"]
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        generator = np.random.default_rng(2026)
        labels = generator.integers(10, size=rows)
        x = generator.normal(size=(rows, 32)) + 0.3 * labels[:, None]
        frame = polars.DataFrame({f"x{c}": x[:, c] for c in range(32)} | {"label": np.char.add("class ", labels.astype(str))})
        frame.write_csv(paths[0])
        frame.write_parquet(paths[1])
    return paths


def timed(command, threads):
    """The seconds of wall clock and of processor time, and the output."""
    environment = {**os.environ, "RAYON_NUM_THREADS": threads, "POLARS_MAX_THREADS": threads, "OMP_NUM_THREADS": threads}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True, env=environment)
    elapsed, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return elapsed, used, done.stdout


def main():
    options = arguments()
    binary = os.environ.get("ABDUCE", DEFAULT_BINARY)
    failed = False
    for path in tables(options.rows):
        fit = [binary, "fit", "naive-bayes", path, "--target", "label", "--json"]
        peer = [sys.executable, "-c", PEER, str(path)]
        ours, theirs = [], []
        for _ in range(options.repeat):
            theirs.append(timed(peer, options.threads))
            ours.append(timed(fit, options.threads))
        expected = float(timed([sys.executable, "-c", PEER + LIKELIHOOD, str(path)], options.threads)[2])
        found = json.loads(ours[0][2])["log_likelihood"]
        failed |= abs(found - expected) > 1e-8 * abs(expected)
        (wall, used), (peer_wall, peer_used) = ([min(run[i] for run in runs) for i in (0, 1)] for runs in (ours, theirs))
        print(f"{path.name}: polars and scikit-learn {peer_wall:.2f} s, abduce {wall:.2f} s, ratio {peer_wall / wall:.2f}; "
              f"processor time {peer_used:.2f} and {used:.2f} s, ratio {peer_used / used:.2f}; "
              f"log-likelihood {found!r}, expected {expected!r}")
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
