"""Packages of the extra `contrastive`."""

from __future__ import annotations

from importlib import import_module

from ...errors import Errors, error


def need(*packages: str) -> None:
    """RAISES (T192): one of them is not installed."""
    for package in packages:
        try:
            import_module(package)
        except ImportError as err:
            name = package.replace("_", "-")
            raise error(Errors.T192, library=name) from err
