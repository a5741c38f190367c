"""Times abduce's Python package against scikit-learn: in one process, on the same arrays, whole calls. Start it with bench/run --python.

The runs of the two libraries alternate. One figure of each result, such as a likelihood or a sum over all parameters,
must agree to 1e-8 (densities to the requested tolerance); the exit code is 1 if one does not, and never depends on time.
"""

import json
import os
import sys
from statistics import median

AGREEMENT = {"kernel-density": 1e-4}


def measure(case, calls, prepare, options):
    """One row of the table."""
    prepare(case, options.iterations)
    run = calls.CALLS[case.kind]
    runs = {"sklearn": [], "abduce": []}
    for turn in range(options.repeat):
        print(f"{case.name}: run {turn + 1} of {options.repeat}", file=sys.stderr)
        for name, library in (("sklearn", calls.SKLEARN), ("abduce", calls.ABDUCE)):
            runs[name].append(run(library, case, options.iterations))
    seconds = {name: [run["seconds"] for run in each] for name, each in runs.items()}
    abduce, sklearn = (max(runs[name], key=lambda run: run["figure"])["figure"] for name in ("abduce", "sklearn"))
    difference = (abduce - sklearn) / max(abs(abduce), abs(sklearn), sys.float_info.min)
    # With default options the starts differ: the likelihood must not be lower by more than the tolerance of both.
    agrees = difference > -1e-3 if case.kind == "mixture-cold" else abs(difference) <= AGREEMENT.get(case.kind, 1e-8)
    return {
        "case": case.name, "required_ratio": case.required, "seconds": seconds, "difference": difference, "agrees": agrees,
        "ratio": min(seconds["sklearn"]) / min(seconds["abduce"]),
        "median_ratio": median(seconds["sklearn"]) / median(seconds["abduce"]),
    }


def table(rows):
    lines = [("case", "sklearn s", "abduce s", "ratio", "median ratio", "required", "difference", "")]
    for row in rows:
        verdict = "ok" if row["ratio"] >= row["required_ratio"] else "slower than required"
        lines.append((
            row["case"], f"{min(row['seconds']['sklearn']):.4f}", f"{min(row['seconds']['abduce']):.4f}", f"{row['ratio']:.2f}",
            f"{row['median_ratio']:.2f}", f"{row['required_ratio']:g}", f"{row['difference']:.1e}", verdict if row["agrees"] else "FAILED",
        ))
    widths = [max(map(len, column)) for column in zip(*lines)]
    align = [str.ljust, *[str.rjust] * 6, str.ljust]
    return "\n".join("  ".join(map(lambda put, cell, width: put(cell, width), align, line, widths)).rstrip() for line in lines)


def main(options, chosen, prepare):
    """Runs the cases that the Python package has, and prints the table."""
    # Read once, by the first call of the library.
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)
    from threadpoolctl import threadpool_limits

    import calls

    with threadpool_limits(limits=options.threads):
        cases = [case.scaled(options.scale) for case in chosen if case.kind in calls.CALLS]
        rows = [measure(case, calls, prepare, options) for case in cases]
    print(table(rows))
    print(f"\nWhole calls of fit or predict, including the conversion of arrays. Best of {options.repeat} alternating runs in one process.")
    print("Not available in the Python package: texts and grids of densities.")
    if options.json:
        document = {"threads": options.threads, "iterations": options.iterations, "cases": rows}
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if all(row["agrees"] for row in rows) else 1
