"""Reports on fitted models: columns, families, parameters, and how the fit went."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

# The figures of every report; None if the model does not have them.
FIGURES = ("rows", "weight", "log_likelihood", "bic", "aic", "parameters", "iterations", "converged", "monotone")


class ReportMixin:
    """Properties that describe a fitted estimator."""

    if TYPE_CHECKING:

        def _part(self, name: str) -> Any:
            """A part of the model file."""

        def _translated(self, text: str) -> str:
            """A warning with the parameters of this estimator."""

    @property
    def fit_report_(self) -> dict[str, Any]:
        """How the fit went; `abduce fit --json` has more.

        The keys are `model`, `rows`, `weight`, `log_likelihood`, `bic`, `aic`, `parameters` (the number of free ones),
        `iterations`, `converged`, `monotone`, `trace`, `inertia` (of k-means), `warnings`, `components` (their number),
        `columns` (the kind and the family of each), `selection` (the compared models with their criteria, None without
        a comparison) and `unlabelled_weight` (the weight of a row without a label, None if there was no such row to
        choose it by).
        """
        check_is_fitted(self, "_model")
        fit = self._part("fit")
        return {
            "model": self._part("model"),
            **{name: fit.get(name) for name in FIGURES},
            "trace": fit["trace"],
            "inertia": fit.get("inertia"),
            "warnings": [self._translated(text) for text in self._part("warnings")],
            "components": len(self._part("names")),
            "columns": [
                {"name": name, "kind": kind, "family": self.families_.get(name)} for name, kind in self._kinds()
            ],
            "selection": self._criteria(),
            "unlabelled_weight": self._unlabelled_weight(),
        }

    def _unlabelled_weight(self) -> float | None:
        """The weight of a row without a label, chosen or given."""
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
        """The family of each column of the model; columns may share a distribution."""
        return {name: leaf["family"] for leaf in self.parameters_ for name in leaf["columns"]}

    @property
    def parameters_(self) -> list[dict[str, Any]]:
        """The distributions of the model: `columns`, `family` and `components`.

        `components` has the parameters in each component or class. The list is empty for models without families.
        """
        check_is_fitted(self, "_model")
        if self._part("model") in ("kmeans", "kde", "histogram", "knn"):
            return []
        names = [name for name, _ in self._kinds()]
        leaves = zip(self._part("leaves"), self._part("parameters"), strict=True)
        return [
            {"columns": [names[place] for place in leaf["columns"]], "family": leaf["family"], "components": parameters}
            for leaf, parameters in leaves
        ]

    def _criteria(self) -> list[dict[str, Any]] | None:
        """The compared models, with their criteria and whether each was selected."""
        selection = self._part("fit").get("selection")
        if selection is None:
            return None
        return [
            candidate | {"chosen": place == selection["chosen"]} for place, candidate in enumerate(selection["tried"])
        ]
