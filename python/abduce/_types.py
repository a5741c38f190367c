"""The types of arguments and results."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Columns: TypeAlias = list[tuple[str, Floats | Codes]]
# A column's name, its levels and the code of each row: -1 for a missing label; None if all are missing.
Labels: TypeAlias = tuple[str, list[str], Codes | None]
# A callback for progress: the kind of event, its number, the total number, and a figure such as the log-likelihood.
Progress: TypeAlias = Callable[[str, int, int, float], None]
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None


class Frame(Protocol):
    """A data frame with the Arrow interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The frame as an Arrow stream."""


class Sparse(Protocol):
    """A sparse matrix of SciPy."""

    def tocsr(self) -> Any:
        """The matrix in compressed rows."""


# Rows, and their labels; None is a missing value.
Rows: TypeAlias = ArrayLike | Frame | Sparse | Sequence[Sequence[Any]]
Target: TypeAlias = ArrayLike | Sequence[Any]
