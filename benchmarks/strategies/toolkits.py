"""The strategies of scikit-activeml and modAL by name: what they do, or why they can't run.

No toolkit is imported here, so all of this can be listed without them.
"""

from __future__ import annotations

SKACTIVEML = {
    "RandomSampling": "random",
    "UncertaintySampling@method=least_confident": "least confident prediction",
    "UncertaintySampling@method=margin_sampling": "smallest margin",
    "UncertaintySampling@method=entropy": "largest entropy",
    "Badge": "BADGE; builds all gradients (n x Y d), slow",
    "Clue": "k-means weighted by uncertainty, nearest to the centres",
    "ContrastiveAL": "CAL with 5 neighbours, vectors as they are",
    "DropQuery": "predictions that dropout on the vectors changes, then k-means",
    "Falcun": "uncertain and diverse probabilities",
    "CoreSet": "greedy k-centre",
    "TypiClust": "typical rows of large clusters without labels; slow",
    "DiscriminativeAL": "most unlike the labelled texts, by logistic regression",
    "CostEmbeddingAL": "cost embedding, by regressors of its own",
    "GreedyBALD": "BALD by Monte-Carlo dropout",
    "BatchBALD": "joint BALD of the batch; slow",
    "QueryByCommittee@method=vote_entropy": "votes of Monte-Carlo dropout, by entropy",
    "QueryByCommittee@method=variation_ratios": "votes of Monte-Carlo dropout, by minority",
}

_PAIRWISE = "it keeps an n x n matrix; use skactiveml:CoreSet or skactiveml:TypiClust"
_REFITS = "it trains the model anew for every row and class; use bald or badge"
_REGRESSION = "it is for regression"
_WRAPPER = "it wraps another strategy; name that one"

SKACTIVEML_EXCLUDED = {
    "ProbCover": _PAIRWISE,
    "MaxHerding": _PAIRWISE,
    "Quire": _PAIRWISE,
    "ExpectedErrorReduction": _REFITS,
    "MonteCarloEER": _REFITS,
    "ValueOfInformationEER": _REFITS,
    "ProbabilisticAL": "its memory grows with n x Y^3 and it loops over the rows; use entropy",
    "EpistemicUncertaintySampling": "it knows two classes and two classifiers of its own only; "
    "use bald",
    "FourDs": "it needs scikit-activeml's MixtureModelClassifier as the model; use "
    "skactiveml:Clue",
    "GreedySamplingX": "it takes about a minute on 20,000 rows; use skactiveml:CoreSet, which "
    "picks by the same distances",
    "GreedySamplingTarget": _REGRESSION,
    "ExpectedModelChangeMaximization": _REGRESSION,
    "ExpectedModelOutputChange": _REGRESSION,
    "ExpectedModelVarianceReduction": _REGRESSION,
    "KLDivergenceMaximization": _REGRESSION,
    "RegressionTreeBasedAL": _REGRESSION,
    "SubSamplingWrapper": _WRAPPER,
    "ParallelUtilityEstimationWrapper": _WRAPPER,
}

MODAL = {
    "uncertainty_sampling": "least confident prediction",
    "margin_sampling": "smallest margin",
    "entropy_sampling": "largest entropy",
    "uncertainty_batch_sampling": "ranked batch: uncertain and far from the labelled; slow",
}

_COMMITTEE = (
    "it needs a committee of models, and there is one; use "
    "skactiveml:QueryByCommittee, where Monte-Carlo dropout is the committee"
)
_DROPOUT = "it needs the whole network as a skorch net and tensors as pool; use bald"
_MULTILABEL = "it is for multi-label tasks"

MODAL_EXCLUDED = {
    "vote_entropy_sampling": _COMMITTEE,
    "consensus_entropy_sampling": _COMMITTEE,
    "max_disagreement_sampling": _COMMITTEE,
    "mc_dropout_bald": _DROPOUT,
    "mc_dropout_mean_st": _DROPOUT,
    "mc_dropout_max_entropy": _DROPOUT,
    "mc_dropout_max_variationRatios": _DROPOUT,
    "expected_error_reduction": "modAL 0.4 can't import it with numpy 1.24 or later, and "
    + _REFITS,
    "information_density": _PAIRWISE,
    "SVM_binary_minimum": _MULTILABEL,
    "max_loss": _MULTILABEL,
    "mean_max_loss": _MULTILABEL,
    "min_confidence": _MULTILABEL,
    "avg_confidence": _MULTILABEL,
    "max_score": _MULTILABEL,
    "avg_score": _MULTILABEL,
    "max_std_sampling": _REGRESSION,
    "max_PI": _REGRESSION,
    "max_EI": _REGRESSION,
    "max_UCB": _REGRESSION,
}
