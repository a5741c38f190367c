"""text.json: terms and counts of difficult documents, from scikit-learn's CountVectorizer and HashingVectorizer, and what Python
calls a word character, white space and lower case.

Characters that Python's Unicode does not know yet are listed apart: another program may know them.
"""

import unicodedata

from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from reference import write

DOCUMENTS = [
    "The quick brown fox jumps over the lazy dog. The dog sleeps.",
    "Don't stop: it's O'Brien's dog, isn't it?",
    "WIN £1000 cash!! Call 09061701461 now, code K0_L1. www.example.org/a_b?c=d",
    "snake_case __init__ _ a_ _b 1 22 3.14 1e-5 x2 ½ ² Ⅷ 五",
    "Straße STRASSE ẞ Größe ǅungla",
    "İstanbul ISTANBUL ıspanak İ",
    "ΟΔΥΣΣΕΥΣ Σίσυφος ΣΑΣ Σ. ΑΣ’ ΑΣ",
    "cafe\u0301 café naïve nai\u0308ve Zoe\u0308",
    "हिन्दी में लिखा है नमस्ते",
    "你好，世界！東京タワー ｶﾀｶﾅ ﾊﾛｰ",
    "สวัสดีครับ ภาษาไทย",
    "مرحبا بالعالم ٣٤٥ السَّلَامُ",
    "👍🏽 great 😀😀 family 👨‍👩‍👧 Ⓐⓑ 🄰 ok",
    "",
    "   \t\n ",
    "!!! ... ??? — … «»",
    "tab\tseparated\t\tline\nbreak\r\n\r\nnon\u00a0breaking\u2003em\u3000wide\x1cfile\x1d\x1egroup\u200bzero\u2028line\x85next",
    "a b c d I",
    "the the the dog dog cash",
    "Привет МИР ёлка Ёж ЩУКА",
    "soft\u00adhyphen zero\u200djoiner re-enter e.g. U.S.A. AT&T",
    "\U0001d400\U0001d7d8 \U00010400\U00010428 𝒳𝒴 \ufb01ne \u1e9e \u0149x \u01c4",
    "word " * 300 + "end",
    "cash prize cash PRIZE winner",
    "x" * 40 + " pneumonoultramicroscopicsilicovolcanoconiosis",
]
STOP_WORDS = ["the", "it", "over", "is", "cash"]
CASES = {
    "words": {},
    "words of one letter": {"token_pattern": r"(?u)\b\w+\b"},
    "words of three letters": {"token_pattern": r"(?u)\b\w\w\w+\b"},
    "cased": {"lowercase": False},
    "pairs": {"ngram_range": (1, 2)},
    "only triples": {"ngram_range": (3, 3)},
    "stop words": {"stop_words": STOP_WORDS, "ngram_range": (1, 2)},
    "characters": {"analyzer": "char", "ngram_range": (2, 4)},
    "single characters": {"analyzer": "char", "ngram_range": (1, 1), "lowercase": False},
    "within words": {"analyzer": "char_wb", "ngram_range": (3, 5)},
    "within short words": {"analyzer": "char_wb", "ngram_range": (1, 7), "lowercase": False},
    "long within words": {"analyzer": "char_wb", "ngram_range": (9, 11)},
    "rare left out": {"min_df": 2},
    "common left out": {"max_df": 2},
    "shares": {"min_df": 0.05, "max_df": 0.1},
    "most frequent": {"max_features": 4},
    "all limits": {"min_df": 2, "max_df": 0.15, "max_features": 3, "ngram_range": (1, 2)},
}


def rows(counts):
    counts = counts.tocsr()
    counts.sort_indices()
    return [
        {"terms": counts.indices[start:end], "counts": counts.data[start:end]}
        for start, end in zip(counts.indptr, counts.indptr[1:])
    ]


def counted(options):
    vectorizer = CountVectorizer(**options)
    counts = vectorizer.fit_transform(DOCUMENTS)
    shown = {name: value for name, value in options.items() if name != "token_pattern"}
    if "token_pattern" in options:
        shown["shortest_word"] = options["token_pattern"].count(r"\w")
    return {"options": shown, "vocabulary": list(vectorizer.get_feature_names_out()), "rows": rows(counts)}


def hashed(bits, ngrams):
    vectorizer = HashingVectorizer(n_features=2**bits, alternate_sign=False, norm=None, ngram_range=ngrams)
    return {"bits": bits, "ngrams": ngrams, "rows": rows(vectorizer.transform(DOCUMENTS).astype(int))}


def ranges(holds):
    """The code points for which `holds` is true, as the first and last of each run."""
    found, start = [], None
    for code in range(0x110001):
        inside = code < 0x110000 and holds(chr(code))
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            found += [start, code - 1]
            start = None
    return found


cased = [chr(code) for code in range(0x110000) if chr(code).lower() != chr(code)]
write(
    "text",
    ["scikit-learn"],
    {
        "unicode": unicodedata.unidata_version,
        "word_characters": ranges(lambda letter: letter.isalnum() or letter == "_"),
        "spaces": ranges(str.isspace),
        "not_assigned": ranges(lambda letter: unicodedata.category(letter) == "Cn"),
        "upper": " ".join(cased),
        "lower": " ".join(letter.lower() for letter in cased),
        "documents": DOCUMENTS,
        "counted": {name: counted(options) for name, options in CASES.items()},
        "hashed": [hashed(20, (1, 1)), hashed(31, (1, 2)), hashed(3, (1, 1))],
    },
)
