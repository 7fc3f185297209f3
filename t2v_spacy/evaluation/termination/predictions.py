"""What a system says of the development and the test part, calibrated on the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...termination.calibration import calibrated, choose_threshold, fit_temperature
from ...termination.measures import Gold, Probabilities

_LEAST = 1e-15


@dataclass(frozen=True)
class Prediction:
    """dev, test: float64, calibrated log-odds of TERMINATED. threshold: Probability
    from which on a trial is called terminated. temperature, bias: Of `calibrated`."""

    dev: np.ndarray
    test: np.ndarray
    threshold: float
    temperature: float = 1.0
    bias: float = 0.0

    @property
    def probabilities(self) -> np.ndarray:
        """Of the test part, float64."""
        return calibrated(self.test)


def log_odds(probabilities: Probabilities) -> np.ndarray:
    p = np.clip(np.asarray(probabilities, dtype="float64"), _LEAST, 1 - _LEAST)
    return np.log(p) - np.log1p(-p)


def fitted(dev: np.ndarray, test: np.ndarray, dev_gold: Gold) -> Prediction:
    """Of log-odds as a system gives them; the test part has no say in it."""
    temperature, bias = fit_temperature(dev, dev_gold)
    dev, test = dev / temperature + bias, test / temperature + bias
    threshold = choose_threshold(dev_gold, calibrated(dev))
    return Prediction(dev, test, threshold, temperature, bias)


def stacked(predictions: Sequence[Prediction], dev_gold: Gold) -> Prediction:
    """The mean of calibrated log-odds, calibrated again: nothing is learnt of how much
    each system is worth, so that a small development part is enough."""
    dev = np.mean([found.dev for found in predictions], axis=0)
    test = np.mean([found.test for found in predictions], axis=0)
    return fitted(dev, test, dev_gold)
