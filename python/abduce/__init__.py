"""Generative models of tables with missing values, with scikit-learn's interface.

Estimators are in modules named like scikit-learn's: `abduce.naive_bayes`, `abduce.discriminant_analysis`,
`abduce.mixture`, `abduce.cluster`, `abduce.neighbors`, `abduce.impute`. They are also available here, for example as
`abduce.GaussianNB`. Modules are imported when they are first used.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"

_MODULE_OF = {
    "GaussianNB": "naive_bayes",
    "BernoulliNB": "naive_bayes",
    "CategoricalNB": "naive_bayes",
    "MultinomialNB": "naive_bayes",
    "ComplementNB": "naive_bayes",
    "NaiveBayes": "naive_bayes",
    "LinearDiscriminantAnalysis": "discriminant_analysis",
    "QuadraticDiscriminantAnalysis": "discriminant_analysis",
    "GaussianMixture": "mixture",
    "Mixture": "mixture",
    "KMeans": "cluster",
    "KernelDensity": "neighbors",
    "GaussianImputer": "impute",
    "MixtureImputer": "impute",
    "load": "_files",
}
_MODULES = ("bayes", "cluster", "discriminant_analysis", "families", "impute", "mixture", "naive_bayes", "neighbors")

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianImputer",
    "GaussianMixture",
    "GaussianNB",
    "KMeans",
    "KernelDensity",
    "LinearDiscriminantAnalysis",
    "Mixture",
    "MixtureImputer",
    "MultinomialNB",
    "NaiveBayes",
    "QuadraticDiscriminantAnalysis",
    "bayes",
    "cluster",
    "discriminant_analysis",
    "families",
    "impute",
    "load",
    "mixture",
    "naive_bayes",
    "neighbors",
]


# For type checkers, which do not follow lazy imports. `typing.TYPE_CHECKING` is not used, for importing `typing` takes
# longer than the rest of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from abduce import bayes, cluster, discriminant_analysis, families, impute, mixture, naive_bayes, neighbors
    from abduce._files import load
    from abduce.cluster import KMeans
    from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from abduce.impute import GaussianImputer, MixtureImputer
    from abduce.mixture import GaussianMixture, Mixture
    from abduce.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
    from abduce.neighbors import KernelDensity
else:

    def __getattr__(name):
        if name in _MODULE_OF:
            return getattr(_import_module(f"abduce.{_MODULE_OF[name]}"), name)
        if name in _MODULES:
            return _import_module(f"abduce.{name}")
        raise AttributeError(f"module 'abduce' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
