"""From loaded suites to a run that can start: names become objects, cases become trials.

This is where neighbours meet: the runner is handed providers, evaluators are handed their judges,
and neither knows where they come from.
"""
