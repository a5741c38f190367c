"""Documents similar to prose: random words with Zipf-Mandelbrot frequencies, with capitals and punctuation."""

import numpy as np

SEED = 7
WORDS = 150_000


def vocabulary(generator):
    """Words of one to four syllables, the frequent ones shorter, and their frequencies."""
    onsets = ["", ""] + "b c d f g h j k l m n p r s t v w br ch cl dr fl gr pl pr sh st th tr".split()
    vowels, codas = "a e i o u ai ou".split(), ["", "", "", "", "", "n", "r", "s", "t"]
    words, known = [], set()
    while len(words) < WORDS:
        syllables = min(4, 1 + int(np.log10(len(words) + 1) * generator.random() * 0.7))
        word = "".join(generator.choice(onsets) + generator.choice(vowels) + generator.choice(codas) for _ in range(syllables))
        if word not in known:
            known.add(word)
            words.append(word)
        elif generator.random() < 0.1:
            words.append(f"{word}{len(words)}")
    weights = 1 / (np.arange(1, len(words) + 1) + 2.7) ** 1.07
    return words, weights / weights.sum()


def random_words(generator, size):
    """Words of about `size` bytes in total, with capitals and punctuation."""
    words, weights = vocabulary(generator)
    drawn = generator.choice(len(words), size=size // 4, p=weights)
    marks = generator.choice(["", "", "", "", "", "", "", ",", ".", "!", "?", "'s"], size=drawn.size)
    capitals = generator.random(drawn.size) < 0.1
    for index, mark, capital in zip(drawn, marks, capitals):
        word = words[index]
        yield (word.capitalize() if capital else word) + mark


def write(path, documents, size):
    """Writes documents of log-normal length, one per line, of about `size` bytes in total."""
    generator = np.random.default_rng(SEED)
    pieces = random_words(generator, size)
    lengths = generator.lognormal(0, 0.8, documents)
    lengths *= size / lengths.sum()
    with open(path, "w", encoding="utf-8") as file:
        for length in lengths:
            document, written = [], 0
            while written < length - 3:
                document.append(next(pieces))
                written += len(document[-1]) + 1
            file.write(" ".join(document)[: max(1, int(length))] + "\n")
