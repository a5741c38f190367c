"""What a fitted model says of itself: its columns, their families and parameters, and how the fit went."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

# What every report has, whether the model has such a figure or not.
FIGURES = ("rows", "weight", "log_likelihood", "bic", "aic", "parameters", "iterations", "converged", "monotone")


class Reporting:
    """Reports of fitted estimators."""

    if TYPE_CHECKING:

        def _part(self, name: str) -> Any:
            """A part of the model file."""

        def _in_own_words(self, text: str) -> str:
            """A warning with the parameters that this estimator has."""

    @property
    def fit_report_(self) -> dict[str, Any]:
        """How the fit went; `abduce fit --json` has more.

        The keys are `model`, `rows`, `weight`, `log_likelihood`, `bic`, `aic`, `parameters` (how many are free),
        `iterations`, `converged`, `monotone`, `trace`, `inertia` (of k-means), `warnings`, `components` (how many),
        `columns` (the kind and the family of each), `selection` (the criteria of the numbers of components that were
        compared, None without a comparison) and `unlabelled_weight` (what a row without a label counts, None where no
        such row was there to choose it by).
        """
        check_is_fitted(self, "_model")
        fit = self._part("fit")
        return {
            "model": self._part("model"),
            **{name: fit.get(name) for name in FIGURES},
            "trace": fit["trace"],
            "inertia": fit.get("inertia"),
            "warnings": [self._in_own_words(text) for text in self._part("warnings")],
            "components": len(self._part("names")),
            "columns": [
                {"name": name, "kind": kind, "family": self.families_.get(name)} for name, kind in self._kinds()
            ],
            "selection": self._criteria(),
            "unlabelled_weight": self._unlabelled_weight(),
        }

    def _unlabelled_weight(self) -> float | None:
        """What a row without a label counts: what was chosen, or what the user gave."""
        chosen = self._part("fit").get("unlabelled")
        if chosen is not None:
            return chosen["weight"]
        given = self._part("provenance").get("options", {}).get("unlabelled")
        return given["weight"] if isinstance(given, dict) and self._part("target") is not None else None

    def _kinds(self) -> list[tuple[str, str]]:
        return [(field["name"], field["kind"]) for field in self._part("schema")["fields"]]

    @property
    def kinds_(self) -> dict[str, str]:
        """The kind of each column: real, count, binary, categorical, ordinal or text."""
        check_is_fitted(self, "_model")
        return dict(self._kinds())

    @property
    def families_(self) -> dict[str, str]:
        """The family of each column that the model describes, the same for columns that share a distribution."""
        return {name: leaf["family"] for leaf in self.parameters_ for name in leaf["columns"]}

    @property
    def parameters_(self) -> list[dict[str, Any]]:
        """The distributions that the model is a product of: `columns`, `family` and `components`.

        `components` has the parameters in each component or class. The list is empty for models without families.
        """
        check_is_fitted(self, "_model")
        if self._part("model") in ("kmeans", "kde", "histogram", "knn"):
            return []
        names = [name for name, _ in self._kinds()]
        leaves = zip(self._part("leaves"), self._part("parameters"), strict=True)
        return [
            {"columns": [names[place] for place in leaf["columns"]], "family": leaf["family"], "components": own}
            for leaf, own in leaves
        ]

    def _criteria(self) -> list[dict[str, Any]] | None:
        """The models that were compared, with their criteria and which was chosen."""
        selection = self._part("fit").get("selection")
        if selection is None:
            return None
        return [own | {"chosen": place == selection["chosen"]} for place, own in enumerate(selection["tried"])]
