"""How well the termination of trials is predicted: baselines, intervals, tests."""
