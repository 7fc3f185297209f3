"""Clinical-trial similarity as spaCy components."""
