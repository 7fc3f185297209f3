"""Whether a trial will be terminated, from what is known at registration."""
