"""Cleaning of registry text."""
