"""Fits a CSV larger than the memory limit, and reports time and peak resident memory. Start it with bench/stream.

The file is written by another process to keep this one small: Linux includes the peak memory of a parent process in that
of its child, so that a large parent would be measured instead of the child.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT_MB = 400
TEXT_LIMIT_MB = 500
TEXT_FITS = [("naive-bayes", ["--target", "label", "--kind", "text=text"])]
MIXTURE = ["--drop", "label", "--components", "3", "--restarts", "1"]
FITS = [
    ("naive-bayes", ["--target", "label"]),
    ("mixture", [*MIXTURE, "--max-iter", "5"]),
    ("mixture", [*MIXTURE, "--method", "online", "--passes", "2", "--max-iter", "2"]),
    ("kmeans", ["--drop", "label", "--components", "3", "--restarts", "1", "--max-iter", "3"]),
]


def arguments():
    parser = argparse.ArgumentParser(prog="bench/stream", description=__doc__)
    option = parser.add_argument
    option("folder", nargs="?", type=Path, default=HERE / ".data" / "stream", help="folder of the CSV, which is written if absent")
    option("--gigabytes", type=float, metavar="G", help="size of the file in 10^9 bytes (default 2.2, texts 5)")
    option("--text", action="store_true", help="labels and messages instead of numbers")
    return parser.parse_args()


def fit(binary, model, options, path):
    """Runs one fit; returns its JSON, the seconds, and its peak resident memory in 10^6 bytes."""
    command = [str(binary), "fit", model, str(path), *options, "--json"]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if child.returncode != 0:
        sys.exit(f"fit {model} failed with exit code {child.returncode}")
    return json.loads(output), seconds, usage.ru_maxrss * 1024 / 1e6


def main():
    options = arguments()
    binary = Path(os.environ.get("ABDUCE", HERE.parent / "target" / "release" / "abduce"))
    size = int((options.gigabytes or (5 if options.text else 2.2)) * 1e9)
    kind = ["text"] if options.text else []
    subprocess.run([sys.executable, str(HERE / "stream_write.py"), str(options.folder), str(size), *kind], check=True)
    path = options.folder / ("texts.tsv" if options.text else "stream.csv")
    rows = json.loads(path.with_suffix(".json").read_text())["rows"]
    fits, limit = (TEXT_FITS, TEXT_LIMIT_MB) if options.text else (FITS, LIMIT_MB)
    print(f"{path.name}: {rows} rows, {path.stat().st_size / 1e9:.2f} GB")

    failed = False
    for model, arguments_of_fit in fits:
        result, seconds, peak = fit(binary, model, arguments_of_fit, path)
        failures = []
        if result["rows"] != rows:
            failures.append(f"saw {result['rows']} rows")
        if peak >= limit:
            failures.append(f"peak not under {limit} MB")
        print(f"{model}: {seconds:.1f} s, peak {peak:.0f} MB, log-likelihood {result['log_likelihood']:.6g}",
              *(f"FAILED: {text}" for text in failures), sep="  ")
        failed = failed or bool(failures)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
