"""Contrastive training of a backbone on pairs of texts, one kind of pair a source.

The parts stand alone: pair files (`pairs`, `trial_pairs`, `concept_pairs`, `hub`),
mined negatives (`mining`), overlap with evaluation sets (`overlap`), batches
(`batches`) and the training itself (`train`). Encoding, training and hub data sets need
the extra `contrastive`.
"""
