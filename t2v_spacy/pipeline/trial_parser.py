"""The pipe `trial_parser`: sections and record of a Doc's text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc

from ..doc import set_sections
from ..extensions import SECTIONS, install_extensions
from ..sections.parse import parse_sections
from ..trial_text import parse_trial


@Language.factory(
    "trial_parser",
    assigns=["doc.spans", "doc._.trial"],
    default_config={"overwrite": False},
)
def make_trial_parser(nlp: Language, name: str, overwrite: bool) -> TrialParser:
    return TrialParser(name, overwrite=overwrite)


class TrialParser(Pipe):
    """Finds the sections of a trial's text: `doc.spans["sections"]`, their headings as
    `doc.spans["headings"]`, the record as `doc._.trial`.

    name (str): Name of the pipe. Defaults to "trial_parser".
    overwrite (bool): Parse a Doc that has sections already. Defaults to False: the
        sections and the record of such a Doc are left alone. A record whose text is
        the text of the Doc is kept in any case, since it knows more (id, dates).
    """

    def __init__(self, name: str = "trial_parser", *, overwrite: bool = False) -> None:
        self.name = name
        self.overwrite = overwrite
        install_extensions()

    def __call__(self, doc: Doc) -> Doc:
        """Set sections and record. A blank Doc gets no section and no record."""
        # Again, because a Doc may be processed in a worker that only unpickled us.
        install_extensions()
        if SECTIONS in doc.spans and not self.overwrite:
            return doc
        text = doc.text
        sections = parse_sections(text)
        set_sections(doc, sections)
        known = doc._.trial
        if known is None or known.to_text() != text:
            doc._.trial = parse_trial(text) if sections else None
        return doc

    # Nothing is learnt: the settings are in the config.

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        return b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> TrialParser:
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        return None

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> TrialParser:
        return self
