"""Writes a large file of seeded random rows: stream_write.py FOLDER BYTES [text]. Called by stream_fit.py.

Twelve real columns around a centre that depends on the label, a category whose probabilities also depend on it, and the
label. One cell in fifty is empty, except in the label. All rows differ. With `text`, a TSV of labels and messages of about
60 words, some of them specific to a label.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

import texts

SEED = 2027
ROWS_PER_BLOCK = 200_000
TEXTS_PER_BLOCK = 20_000
REAL_COLUMNS = 12
LABELS = np.array(["alder", "birch", "cedar"])
COLOURS = np.array(["red", "green", "blue", "grey", "black"])
MISSING = 0.02


def block(generator, centres, shares, rows):
    """A record batch of new rows."""
    label = generator.choice(len(LABELS), rows, p=[0.5, 0.3, 0.2])
    x = np.round(centres[label] + generator.normal(size=(rows, REAL_COLUMNS)), 6)
    colour = (generator.uniform(size=rows)[:, None] > shares.cumsum(axis=1)[label, :-1]).sum(axis=1)
    missing = generator.uniform(size=(rows, REAL_COLUMNS + 1)) < MISSING
    columns = {f"x{j + 1}": pa.array(x[:, j], mask=missing[:, j]) for j in range(REAL_COLUMNS)}
    columns["colour"] = pa.DictionaryArray.from_arrays(pa.array(colour, mask=missing[:, -1]), COLOURS).cast(pa.string())
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


def write_texts(path, size):
    """Appends messages until the file has at least `size` bytes; returns their number."""
    generator = np.random.default_rng(SEED)
    words, weights = texts.vocabulary(generator)
    words, weights = np.array(words, dtype=object), weights.cumsum()
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("label\ttext\n")
        while file.tell() < size:
            labels = generator.choice(len(LABELS), TEXTS_PER_BLOCK, p=[0.5, 0.3, 0.2])
            lengths = generator.poisson(60, TEXTS_PER_BLOCK) + 1
            drawn = np.searchsorted(weights, generator.random(lengths.sum()))
            # One word in ten gets another rank, which depends on the label.
            moved = generator.random(drawn.size) < 0.1
            drawn[moved] = (7 * drawn[moved] + 13 * np.repeat(labels, lengths)[moved]) % len(words)
            chosen, ends = words[drawn.clip(0, len(words) - 1)], lengths.cumsum()
            for label, start, end in zip(labels, ends - lengths, ends):
                file.write(f"{LABELS[label]}\t{' '.join(chosen[start:end])}\n")
            rows += TEXTS_PER_BLOCK
    return rows


def main():
    folder, size = Path(sys.argv[1]), int(sys.argv[2])
    is_text = sys.argv[3:] == ["text"]
    note = folder / ("texts.json" if is_text else "stream.json")
    if note.exists() and json.loads(note.read_text())["wanted_bytes"] == size:
        return
    folder.mkdir(parents=True, exist_ok=True)
    note.unlink(missing_ok=True)
    rows = write_texts(folder / "texts.tsv", size) if is_text else write(folder / "stream.csv", size)
    note.write_text(json.dumps({"rows": rows, "wanted_bytes": size}))


if __name__ == "__main__":
    main()
