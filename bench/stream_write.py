"""Writes a large CSV of seeded random rows: stream_write.py FOLDER BYTES. Called by stream_fit.py.

Twelve real columns around a centre that depends on the label, a category whose shares depend on it too, and the label.
One cell in fifty is empty, except in the label. No two rows are copies, so no reader can profit from repetition.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

SEED = 2027
ROWS_PER_BLOCK = 200_000
REAL_COLUMNS = 12
LABELS = np.array(["alder", "birch", "cedar"])
COLOURS = np.array(["red", "green", "blue", "grey", "black"])
HOLES = 0.02


def block(generator, centres, shares, rows):
    """One record batch of fresh rows."""
    label = generator.choice(len(LABELS), rows, p=[0.5, 0.3, 0.2])
    x = np.round(centres[label] + generator.normal(size=(rows, REAL_COLUMNS)), 6)
    colour = (generator.uniform(size=rows)[:, None] > shares.cumsum(axis=1)[label, :-1]).sum(axis=1)
    hole = generator.uniform(size=(rows, REAL_COLUMNS + 1)) < HOLES
    columns = {f"x{j + 1}": pa.array(x[:, j], mask=hole[:, j]) for j in range(REAL_COLUMNS)}
    columns["colour"] = pa.DictionaryArray.from_arrays(pa.array(colour, mask=hole[:, -1]), COLOURS).cast(pa.string())
    columns["label"] = pa.array(LABELS[label])
    return pa.RecordBatch.from_pydict(columns)


def write(path, size):
    """Appends blocks until the file has at least `size` bytes; returns the number of rows."""
    generator = np.random.default_rng(SEED)
    centres = generator.normal(0.0, 1.5, (len(LABELS), REAL_COLUMNS))
    shares = generator.dirichlet(np.full(len(COLOURS), 2.0), len(LABELS))
    options = csv.WriteOptions(quoting_style="none")
    batch = block(generator, centres, shares, ROWS_PER_BLOCK)
    rows = 0
    with path.open("wb") as file, csv.CSVWriter(file, batch.schema, write_options=options) as writer:
        while file.tell() < size:
            writer.write_batch(batch)
            rows += batch.num_rows
            batch = block(generator, centres, shares, ROWS_PER_BLOCK)
    return rows


def main():
    folder, size = Path(sys.argv[1]), int(sys.argv[2])
    note = folder / "stream.json"
    if note.exists() and json.loads(note.read_text())["wanted_bytes"] == size:
        return
    folder.mkdir(parents=True, exist_ok=True)
    note.unlink(missing_ok=True)
    rows = write(folder / "stream.csv", size)
    note.write_text(json.dumps({"rows": rows, "wanted_bytes": size}))


if __name__ == "__main__":
    main()
