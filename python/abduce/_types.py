"""The types of what users hand over and of what the engine takes and gives."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Columns: TypeAlias = list[tuple[str, Floats | Codes]]
# A column's name, its levels and the code of each row: -1 where there is none, None where there are none at all.
Labels: TypeAlias = tuple[str, list[str], Codes | None]
# What has happened, its number, how many there will be, and a figure.
Watch: TypeAlias = Callable[[str, int, int, float], None]
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None


class Frame(Protocol):
    """A data frame of a library that speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The frame as a stream of Arrow."""


class Sparse(Protocol):
    """A sparse matrix of SciPy."""

    def tocsr(self) -> Any:
        """The same by rows."""


# Rows of cells, and a label for each of them; None is a missing value.
Rows: TypeAlias = ArrayLike | Frame | Sparse | Sequence[Sequence[Any]]
Target: TypeAlias = ArrayLike | Sequence[Any]
