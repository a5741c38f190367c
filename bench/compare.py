"""Times abduce against scikit-learn and prints the table of ratios. Start it with bench/run.

The runs of the two programs alternate, so that other load affects both. The log-likelihoods (and the means of naive
Bayes; sums over classes or counts if there is no likelihood) must agree to 1e-8; the exit code is 1 if they do not, and
never depends on time.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

import references
from cases import CASES, prepare

AGREEMENT = 1e-8
# The largest error of a density, relative to the density or, on a grid, to its peak.
DENSITY_ERRORS = {"kernel-density": 1e-4, "kernel-grid": 1e-3}
DEFAULT_BINARY = Path(__file__).resolve().parent.parent / "target" / "release" / "abduce-bench"


def arguments():
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    option = parser.add_argument
    option("filters", nargs="*", metavar="CASE", help="run only cases with one of these in their name (default: all)")
    option("--repeat", type=int, default=5, metavar="N", help="runs of each program per case (default 5)")
    option("--iterations", type=int, default=10, metavar="N", help="EM iterations of the mixtures (default 10)")
    option("--threads", type=int, default=2, metavar="N", help="threads for both programs (default 2)")
    option("--scale", type=float, default=1.0, metavar="F", help="fraction of the rows, to try things out (default 1)")
    option("--python", action="store_true", help="whole calls through the Python package, in one process with scikit-learn")
    option("--json", type=Path, metavar="FILE", help="also write every timing and result to FILE")
    return parser.parse_args()


def chosen(filters):
    """The cases that match the filters; a filter without a match is an error."""
    for text in filters:
        if not any(text in case.name for case in CASES):
            sys.exit(f"no case has '{text}' in its name; there are: {', '.join(case.name for case in CASES)}")
    return [case for case in CASES if not filters or any(text in case.name for text in filters)]


def run_abduce(binary, case, threads):
    """Runs abduce once. Returns its JSON, with the time to compare in `seconds`."""
    command = [str(binary), case.kind, str(case.folder), "--repeat", "1", "--threads", str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{binary.name} failed on {case.name} with exit code {done.returncode}")
    result = json.loads(done.stdout)
    if case.kind != "kmeans-converged" and "seconds_per_iteration" in result:
        result["seconds"] = result["seconds_per_iteration"]
    return result


def has_avx512():
    """Whether abduce uses AVX-512 here."""
    if os.environ.get("ABDUCE_SIMD", "avx512") != "avx512":
        return False
    cpu = Path("/proc/cpuinfo")
    return cpu.exists() and "avx512dq" in cpu.read_text().split()


def required(case):
    """The required ratio at this level of vector instructions."""
    return case.required_avx512 if case.required_avx512 and has_avx512() else case.required


def gemm_rate(threads):
    """GFLOP/s of NumPy's matrix product in double precision, the best of several."""
    size = 1500
    a, b = np.ones((size, size)), np.ones((size, size))
    best = math.inf
    with threadpool_limits(limits=threads):
        for _ in range(8):
            start = perf_counter()
            a @ b
            best = min(best, perf_counter() - start)
    return 2e-9 * size**3 / best


def rate(row):
    """GFLOP/s of the two products of an EM step with the sufficient statistics; `None` for other cases."""
    d = row["d"]
    features = {"mixture": d + d * (d + 1) // 2, "mixture-diagonal": 2 * d}.get(row["kind"])
    return features and 4e-9 * row["n"] * row["k"] * features / min(row["seconds"]["abduce"])


def relative_difference(a, b):
    return abs(a - b) / max(abs(a), abs(b), sys.float_info.min)


def disagreements(case, ours, sklearn):
    """Descriptions of the results that differ; empty if the times can be compared.

    The means are compared separately because the likelihood is flat at its maximum: means wrong by 1e-4 of their
    deviation would pass.
    """
    found = []
    if case.kind == "mixture-missing":
        # The rows differ, so the likelihoods do.
        return found
    if case.kind in DENSITY_ERRORS:
        if not density_error(case, ours, sklearn) <= DENSITY_ERRORS[case.kind]:
            found.append(f"error {density_error(case, ours, sklearn):.1e}, allowed {DENSITY_ERRORS[case.kind]:g}")
        return found
    if case.kind == "mixture-cold":
        if ours["log_likelihood"] < sklearn["log_likelihood"]:
            found.append(f"log-likelihood {ours['log_likelihood']!r}, scikit-learn reached {sklearn['log_likelihood']!r}")
        return found
    if not relative_difference(ours["log_likelihood"], sklearn["log_likelihood"]) <= AGREEMENT:
        found.append(f"log-likelihood {ours['log_likelihood']!r}, scikit-learn {sklearn['log_likelihood']!r}")
    if (case.data == "mixture" or case.kind == "kmeans") and ours["iterations"] != sklearn["iterations"]:
        found.append(f"{ours['iterations']} iterations, scikit-learn {sklearn['iterations']}")
    if case.kind == "naive-bayes":
        error = abs(ours["means_checksum"] - sklearn["means_checksum"])
        if not error <= AGREEMENT * sklearn["means_scale"]:
            found.append(f"sum of means {ours['means_checksum']!r}, scikit-learn {sklearn['means_checksum']!r}")
    return found


def density_error(case, ours, exact):
    """The largest error of abduce's densities, relative to the density or, on a grid, to its peak."""
    exact = exact["exact"]
    if case.kind == "kernel-density":
        return max(abs(math.expm1(a - b)) for a, b in zip(ours["log_densities"], exact))
    return max(abs(a - b) for a, b in zip(ours["densities"], exact)) / max(exact)


def measure(case, binary, options):
    """Runs the programs alternately and returns one row of the table."""
    prepare(case, options.iterations)
    ours, sklearn = [], []
    for turn in range(options.repeat):
        print(f"{case.name}: run {turn + 1} of {options.repeat}", file=sys.stderr)
        with threadpool_limits(limits=options.threads):
            threads = [options.threads] if case.data == "kmeans" else []
            if case.kind == "mixture-missing":
                complete = replace(case, kind="mixture", name=case.name.replace("mixture-missing", "mixture"))
                prepare(complete, options.iterations)
                sklearn.append(run_abduce(binary, complete, options.threads))
            else:
                sklearn.append(references.RUN[case.kind](case, options.iterations, *threads))
        ours.append(run_abduce(binary, case, options.threads))
    seconds = {"sklearn": [run["seconds"] for run in sklearn], "abduce": [run["seconds"] for run in ours]}
    pairs = list(zip(ours, sklearn))
    return {
        "case": case.name, "kind": case.kind, "n": case.n, "d": case.d, "k": case.k, "required_ratio": required(case),
        "seconds": seconds,
        "ratio": min(seconds["sklearn"]) / min(seconds["abduce"]),
        "median_ratio": median(seconds["sklearn"]) / median(seconds["abduce"]),
        "log_likelihood_difference": max(
            relative_difference(a["log_likelihood"], b["log_likelihood"]) for a, b in pairs
        ),
        "density_error": {
            "sklearn": max(b["error"] for b in sklearn), "abduce": max(density_error(case, a, b) for a, b in pairs),
        } if case.kind in DENSITY_ERRORS else None,
        "extra_mb": max((run["extra_mb"] for run in ours if run.get("extra_mb") is not None), default=None),
        "disagreements": sorted({line for pair in pairs for line in disagreements(case, *pair)}),
        "results": {"sklearn": sklearn, "abduce": ours},
    }


def table(rows):
    """The rows as aligned text, with the best times of all repeats, because other load can only add time."""
    lines = [("case", "sklearn s", "abduce s", "ratio", "median ratio", "required", "log-lik. diff.", "extra MB", "")]
    for row in rows:
        lines.append((
            row["case"], f"{min(row['seconds']['sklearn']):.4f}", f"{min(row['seconds']['abduce']):.4f}",
            f"{row['ratio']:.2f}", f"{row['median_ratio']:.2f}", f"{row['required_ratio']:g}",
            f"{row['log_likelihood_difference']:.1e}", "-" if row["extra_mb"] is None else f"{row['extra_mb']:.1f}",
            verdict(row),
        ))
    widths = [max(map(len, column)) for column in zip(*lines)]
    # Text is aligned left, numbers right.
    align = [str.ljust, *[str.rjust] * 7, str.ljust]
    return "\n".join("  ".join(map(lambda put, cell, width: put(cell, width), align, line, widths)).rstrip() for line in lines)


def verdict(row):
    """FAILED is about results; being slower than required is reported, but is not a failure."""
    if row["disagreements"]:
        return "FAILED"
    return "ok" if row["ratio"] >= row["required_ratio"] else "slower than required"


def main():
    options = arguments()
    if options.python:
        import through_python

        sys.exit(through_python.main(options, chosen(options.filters), prepare))
    binary = Path(os.environ.get("ABDUCE_BENCH", DEFAULT_BINARY))
    rows = [measure(case.scaled(options.scale), binary, options) for case in chosen(options.filters)]
    print(table(rows))
    print(f"\nMixtures: seconds per EM iteration. Naive Bayes (numbers, levels, words): seconds per fit, or to say the class of each row.")
    print(f"Texts: seconds from raw text to sparse counts. Best of {options.repeat} alternating runs.")
    print("k-means: seconds per iteration of the loop, and of a fit until no centre moves; compared by inertia.")
    print("Kernel densities: seconds to build and ask; SciPy's on the grid scaled up from each 256th node.")
    for row in rows:
        if row["density_error"]:
            print(f"{row['case']}: error {row['density_error']['abduce']:.1e}, scikit-learn {row['density_error']['sklearn']:.1e}")
    gemm = gemm_rate(options.threads)
    print(f"NumPy's matrix product in this run: {gemm:.0f} GFLOP/s.")
    for row in rows:
        if reached := rate(row):
            print(f"{row['case']}: {reached:.0f} GFLOP/s, {reached / gemm:.0%} of that")
    print("Missing: a fifth of the cells blanked, compared with abduce itself on the complete table.")
    print("Extra MB: what abduce's fit needed at its peak beyond the table it was given.")
    for row in rows:
        for line in row["disagreements"]:
            print(f"FAILED {row['case']}: {line}")
    if options.json:
        document = {"threads": options.threads, "iterations": options.iterations, "cases": rows}
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    sys.exit(1 if any(row["disagreements"] for row in rows) else 0)


if __name__ == "__main__":
    main()
