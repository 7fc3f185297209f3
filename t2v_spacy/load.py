"""Load a spaCy pipeline, with a clear message where that fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .errors import Errors, T2VError, error

if TYPE_CHECKING:
    from spacy.language import Language


def load_nlp(
    name: str,
    *,
    exclude: Iterable[str] = (),
    config: Mapping[str, Any] | None = None,
    message: tuple[str, str] = Errors.T027,
) -> Language:
    """`spacy.load`.

    name (str): Installed name or path.
    exclude (Iterable[str]): Pipes that are not loaded.
    config (Mapping): Replaces settings of the pipeline, with dots in their names.
    message (tuple): Says of the pipeline `name` for what `reason` it cannot be loaded.
    RAISES (T2VError): That of `message`; an error of ours is passed on as it is.
    """
    import spacy

    try:
        return spacy.load(name, config=dict(config or {}), exclude=list(exclude))
    except T2VError:
        raise
    except (OSError, ValueError, ImportError) as err:
        raise error(message, name=name, reason=first_line(err)) from err


def first_line(err: Exception) -> str:
    """Of a message of spaCy, which may go on for many lines; without its full stop."""
    return str(err).split("\n")[0].rstrip(".")
