"""An estimator is asked through its protocol: nothing outside its room tests for its class."""

from figures import switches


def test_no_metric_asks_for_the_class_of_an_estimator():
    assert switches() == []
