"""Records only: no I/O, no decisions, nothing of ours imported but `errors`.

Three families: what an author defines (`case`, `target`, `options`), what an execution passes
around (`request`, `score`, `event`), and what a run leaves (`result`, `run`).
"""
