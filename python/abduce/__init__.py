"""Generative learning on tables with missing values, with scikit-learn's interface.

Estimators are in modules named as scikit-learn's: `abduce.naive_bayes`, `abduce.mixture`,
`abduce.cluster`, `abduce.neighbors`, `abduce.impute`. Any of them can be had from here too,
as `abduce.GaussianNB`; modules are imported when they are first asked for.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"

_HOMES = {
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


# A type checker sees what is imported later, and finds names that are not there. The library `typing` is not
# asked, for it takes longer to import than all else here.
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
        if name in _HOMES:
            return getattr(_import_module(f"abduce.{_HOMES[name]}"), name)
        if name in _MODULES:
            return _import_module(f"abduce.{name}")
        raise AttributeError(f"module 'abduce' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
