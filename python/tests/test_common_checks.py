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
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    KMeans(n_clusters=3),
    Mixture(),
    KernelDensity(),
    GaussianImputer(),
    MixtureImputer(),
]


# The rows of these checks have singular covariances, which are refused as in scikit-learn; with `reg_param`,
# all checks pass.
SINGULAR = "the covariances of its classes are singular, which is refused as scikit-learn refuses it"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": SINGULAR,
    "check_sample_weights_shape": SINGULAR,
    "check_sample_weights_not_overwritten": SINGULAR,
}


def expected(estimator):
    without_ridge = isinstance(estimator, QuadraticDiscriminantAnalysis) and estimator.reg_param == 0
    return EXPECTED if without_ridge else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected)
def test_common_checks(estimator, check):
    check(estimator)
