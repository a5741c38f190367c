"""scikit-learn's own checks of estimators, on every estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer, MixtureImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

ESTIMATORS = [
    GaussianNB(),
    BernoulliNB(),
    CategoricalNB(),
    MultinomialNB(),
    ComplementNB(),
    NaiveBayes(),
    GaussianMixture(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    KMeans(n_clusters=3),
    Mixture(),
    KernelDensity(),
    GaussianImputer(),
    MixtureImputer(),
]


SINGULAR = "the covariances of its classes are singular, which is refused as scikit-learn refuses it"
DRAWN = (
    "centres begin at rows that are drawn, and draws among rows that count twice are not those among twice as many "
    "rows; scikit-learn's KMeans does not pass it either"
)
EXPECTED = {
    "QuadraticDiscriminantAnalysis": {
        "check_sample_weight_equivalence_on_dense_data": SINGULAR,
        "check_sample_weights_shape": SINGULAR,
        "check_sample_weights_not_overwritten": SINGULAR,
    },
    "KMeans": {
        "check_sample_weight_equivalence_on_dense_data": DRAWN,
        "check_sample_weight_equivalence_on_sparse_data": DRAWN,
    },
}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda own: EXPECTED.get(type(own).__name__, {}))
def test_common_checks(estimator, check):
    check(estimator)
