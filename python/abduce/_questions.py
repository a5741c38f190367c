"""Questions in words, taken apart: P(a, b | c=1), E(x | …), MAP(a, b | …).

What holds a comma, a bar or an equals sign stands in quotes, single or double: P("petal width" | "my, col"='a=b'). A
quote within quotes is doubled. Quotes within a word are nothing special.
"""

import re
from typing import NamedTuple

QUOTED = r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'"


ONLY_EQUAL = 'the only comparison is "="'


def is_comparison(text: str) -> bool:
    """Whether a text has a sign of a comparison that questions do not know."""
    return re.search("[<>≤≥≠]|!=", text) is not None


class Question(NamedTuple):
    """What is asked, of which columns or events, and what is given."""

    kind: str
    asked: list[tuple[str, str | None]]
    given: dict[str, str]

    @property
    def columns(self) -> list[str]:
        """The columns that are asked about."""
        return [name for name, _ in self.asked]


def parsed(text: str) -> Question:
    """A question taken apart."""
    found = re.fullmatch(r"\s*(P|E|MAP)\((.*)\)\s*", text, re.DOTALL)
    asked, *given = _cut(found[2], "|") if found else [""]
    parts = [_assigned(part) for part in _cut(asked, ",")]
    if found is None or len(given) > 1 or not all(name for name, _ in parts):
        raise ValueError(
            f"{text!r} is not a question of the form P(column | other=value, …), E(column | …) or MAP(column, … | …)"
        )
    conditions = _conditions(given[0] if given else "")
    both = [name for name, _ in parts if name in conditions]
    if both:
        raise ValueError(f"column {both[0]!r} is both asked about and given")
    values = [value is not None for _, value in parts]
    if any(values) and (found[1] != "P" or not all(values)):
        raise ValueError("values are asked about in P(column=value, … | …) alone, and then of every column there")
    return Question(found[1], parts, conditions)


def _conditions(text: str) -> dict[str, str]:
    """What is known, by the names of columns."""
    given: dict[str, str] = {}
    for part in filter(str.strip, _cut(text, ",")):
        name, value = _assigned(part)
        if not name or value is None:
            raise ValueError(
                f"{part.strip()!r} is not a condition of the form column=value"
                f"{f'; {ONLY_EQUAL}' if is_comparison(part) else ''}"
            )
        if name in given:
            raise ValueError(f"column {name!r} is given twice")
        given[name] = value
    return given


def _assigned(text: str) -> tuple[str, str | None]:
    """The name and the value of name=value; no value where there is only a name, nor where it is compared otherwise."""
    name, *rest = _cut(text, "=")
    if not rest:
        return _plain(name), None
    if name.rstrip().endswith(("<", ">", "!")):
        raise ValueError(f"{text.strip()!r} is not a condition of the form column=value; {ONLY_EQUAL}")
    return _plain(name), _plain("=".join(rest))


def _cut(text: str, at: str) -> list[str]:
    """Cuts a text wherever a sign stands outside quotes, which open where a name or a value begins."""
    parts, start = [], 0
    for found in re.finditer(rf"(?<![^\s,|=])(?:{QUOTED})|{re.escape(at)}", text):
        if found[0] == at:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def _plain(text: str) -> str:
    """A name or a value without its quotes."""
    text = text.strip()
    if not re.fullmatch(QUOTED, text):
        return text
    return text[1:-1].replace(text[0] * 2, text[0])
