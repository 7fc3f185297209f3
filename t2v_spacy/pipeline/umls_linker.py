"""The pipe `umls_linker`: concepts of the mentions in a trial's sections."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup

from ..errors import Errors, error
from ..extensions import SECTIONS, install_extensions
from ..sections.labels import CRITERIA, SECTION_LABELS
from ..values import split_type

if TYPE_CHECKING:
    from spacy.training import Example

    from ..kb.knowledge_base import KnowledgeBase
    from ..kb.linker import ConceptLinker, Fuzzy, Link
    from ..kb.loaders import KBLoader

CONCEPTS = "concepts"
# Sections that are lists of mentions, and the role of these.
_LISTS = {"condition": "condition", "intervention": "intervention", "keyword": "any"}
DEFAULT_SECTIONS = [*_LISTS, "title", "outcome", *CRITERIA]
DEFAULT_METHODS = [
    "exact",
    "folded",
    "normalised",
    "curated",
    "abbreviation",
    "parenthetical",
    "stripped",
    "split",
    "spelling",
    "ngram",
]
_ITEM = re.compile(r"[^\n;]+")
_BULLET = re.compile(r"\s*(?:(?:[-*•]|\d{1,2}[.)])\s+)?")
_TIME_FRAME = re.compile(r"\s*\* Time frame: [^\n]*")
_SETTINGS, _KB = "settings.json", "kb"


@Language.factory(
    "umls_linker",
    requires=["doc.spans"],
    assigns=["doc.spans", "doc._.concepts"],
    default_config={
        "sections": DEFAULT_SECTIONS,
        "methods": DEFAULT_METHODS,
        "abbreviations": "builtin",
        "fuzzy": None,
        "scispacy_ents": False,
        "store_kb": None,
        "cache_size": 100_000,
    },
)
def make_umls_linker(
    nlp: Language,
    name: str,
    sections: list[str],
    methods: list[str],
    abbreviations: str | None,
    fuzzy: Callable | None,
    scispacy_ents: bool,
    store_kb: bool | None,
    cache_size: int,
) -> UmlsLinker:
    """Create a UmlsLinker pipe, see `UmlsLinker`."""
    return UmlsLinker(
        name,
        sections=sections,
        methods=methods,
        abbreviations=abbreviations,
        fuzzy=fuzzy,
        scispacy_ents=scispacy_ents,
        store_kb=store_kb,
        cache_size=cache_size,
    )


class UmlsLinker(Pipe):
    """Links mentions to concepts of a knowledge base, and says how each was found.

    Sets `doc._.concepts`, a list of dicts of plain values in order of place: id, name,
    text, how (method), score, types, section (label or None), start and end (in
    characters of the Doc's text), also (other ids the text may mean), kb (version of
    the base); and `doc.spans["concepts"]`, labelled by semantic group, with the id as
    `kb_id_`.

    The base is the built-in one unless `initialize` is given a `kb_loader`, or `set_kb`
    a base. It is loaded when first needed.

    sections (Sequence[str]): Labels of the sections to read. A Doc without any section
        is read whole.
    methods (Sequence[str]): Ways of matching that may be used.
    abbreviations (str | None): "builtin" finds the definitions in the text, "scispacy"
        takes those of scispaCy's `abbreviation_detector`, None does without.
    fuzzy (Callable | None): Candidates for items that nothing else links, such as
        `t2v.ScispacyCandidates.v1`.
    scispacy_ents (bool): Also take what scispaCy's `scispacy_linker` says of
        `doc.ents`, where its concepts are in the base.
    store_kb (bool | None): Save the base with the pipeline (True), or only where it
        came from (False), as the licence of UMLS may demand. None saves every base but
        the built-in one.
    cache_size (int): Distinct mentions whose links are kept.
    """

    def __init__(
        self,
        name: str = "umls_linker",
        *,
        sections: Sequence[str] = DEFAULT_SECTIONS,
        methods: Sequence[str] = DEFAULT_METHODS,
        abbreviations: str | None = "builtin",
        fuzzy: Fuzzy | None = None,
        scispacy_ents: bool = False,
        store_kb: bool | None = None,
        cache_size: int = 100_000,
    ) -> None:
        if unknown := sorted(set(methods) - set(DEFAULT_METHODS)):
            known = ", ".join(DEFAULT_METHODS)
            reason = f"'{unknown[0]}' is not one of {known}"
            raise error(Errors.T026, setting="methods", value=methods, reason=reason)
        if abbreviations not in ("builtin", "scispacy", None):
            reason = "it is 'builtin', 'scispacy' or null"
            raise error(
                Errors.T026, setting="abbreviations", value=abbreviations, reason=reason
            )
        for label in sections:
            if label not in SECTION_LABELS:
                known = ", ".join(SECTION_LABELS)
                raise error(Errors.T008, value=label, labels=known)
        self.name = name
        self.sections = list(sections)
        self.methods = list(methods)
        self.abbreviations = abbreviations
        self.fuzzy = fuzzy
        self.scispacy_ents = scispacy_ents
        self.store_kb = store_kb
        self.cache_size = cache_size
        self._loader: KBLoader | None = None
        self._kb: KnowledgeBase | None = None
        install_extensions()

    @property
    def kb(self) -> KnowledgeBase:
        """The base, loaded if it was not yet."""
        if self._kb is None:
            from ..kb.loaders import builtin_kb

            self._loader = self._loader or builtin_kb()
            self._kb = self._loader()
        return self._kb

    def set_kb(self, kb: KnowledgeBase) -> None:
        """Link to this base from now on; it is saved with the pipeline."""
        self._kb, self._loader = kb, None
        self.__dict__.pop("linker", None)

    @cached_property
    def linker(self) -> ConceptLinker:
        from ..kb.linker import ConceptLinker

        return ConceptLinker(
            self.kb,
            methods=self.methods,
            fuzzy=self.fuzzy,
            cache_size=self.cache_size,
        )

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        kb_loader: Callable[[], Any] | None = None,
    ) -> None:
        """Take the base of a loader; without one, keep what there is.

        kb_loader (Callable | None): Such as `t2v.KBFromDisk.v1`.
        """
        if kb_loader is not None:
            from ..kb.loaders import KBLoader

            self.set_kb(kb_loader())
            self._loader = kb_loader if isinstance(kb_loader, KBLoader) else None

    def __call__(self, doc: Doc) -> Doc:
        # Again, because a Doc may be processed in a worker that only unpickled us.
        install_extensions()
        text = doc.text  # once: a Doc makes it anew each time
        defined = self._defined(doc, text)
        found: list[tuple[str | None, Link]] = []
        for label, start, end in self._parts(doc, len(text)):
            links = self._read(text[start:end], label, start, defined)
            found += ((label, link) for link in links)
        if self.scispacy_ents:
            found += _from_ents(doc, self.kb)
        found.sort(key=lambda item: (item[1].start, item[1].end))
        doc._.concepts = [self._plain(text, label, link) for label, link in found]
        doc.spans[CONCEPTS] = SpanGroup(
            doc, name=CONCEPTS, spans=[_span(doc, c) for c in doc._.concepts]
        )
        return doc

    def _defined(self, doc: Doc, text: str) -> dict[str, str]:
        """Abbreviations of the trial, short to long."""
        if self.abbreviations == "builtin":
            from ..kb.abbreviations import find_abbreviations

            return {a.short: a.long for a in find_abbreviations(text)}
        if self.abbreviations == "scispacy" and Doc.has_extension("abbreviations"):
            return dict(map(_from_detector, doc._.abbreviations or ()))
        return {}

    def _parts(self, doc: Doc, length: int) -> Iterator[tuple[str | None, int, int]]:
        if SECTIONS not in doc.spans:
            yield None, 0, length
            return
        for section in doc.spans[SECTIONS]:
            if section.label_ in self.sections:
                body = section._.body
                if len(body):
                    yield section.label_, body.start_char, body.end_char

    def _read(
        self, text: str, label: str | None, start: int, defined: Mapping[str, str]
    ) -> Iterator[Link]:
        if label not in _LISTS:
            # Blanks, so that places stay the same.
            text = _TIME_FRAME.sub(lambda m: " " * len(m[0]), text)
            yield from _shifted(self.linker.link_text(text, "any", defined), start)
            return
        for item in _ITEM.finditer(text):
            at = item.start() + len(_BULLET.match(item[0])[0])  # type: ignore[index]
            mention = text[at : item.end()]
            if label == "intervention":
                bare = split_type(mention)[1]
                at += len(mention) - len(bare)
                mention = bare
            links = self.linker.link(mention, _LISTS[label], defined)
            yield from _shifted(links, start + at)

    def _plain(self, text: str, label: str | None, link: Link) -> dict[str, Any]:
        concept_id = link.ids[0]
        return {
            "id": concept_id,
            "name": self.kb.name(concept_id),
            "text": text[link.start : link.end],
            "how": link.how,
            "score": link.score,
            "types": list(self.kb.types(concept_id)),
            "section": label,
            "start": link.start,
            "end": link.end,
            "also": list(link.ids[1:]),
            "kb": self.kb.version,
        }

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the base, or where it came from."""
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        settings = self._reference()
        settings["stored"] = settings["stored"] and _KB not in exclude
        if settings["stored"]:
            self.kb.to_disk(path / _KB)
        srsly.write_json(path / _SETTINGS, settings)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> UmlsLinker:
        path = Path(path)
        settings = srsly.read_json(path / _SETTINGS)
        data = None
        if settings["stored"] and _KB not in exclude:
            from ..kb.knowledge_base import KnowledgeBase

            data = KnowledgeBase.from_disk(path / _KB)
        return self._restore(settings, data)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        content: dict[str, Any] = self._reference()
        if content["stored"] and _KB not in exclude:
            content[_KB] = self.kb.to_bytes(preset=0)
        return srsly.msgpack_dumps(content)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> UmlsLinker:
        content = srsly.msgpack_loads(data)
        kb = None
        if _KB in content and _KB not in exclude:
            from ..kb.knowledge_base import KnowledgeBase

            kb = KnowledgeBase.from_bytes(content[_KB])
        return self._restore(content, kb)

    # spaCy's Pipe has a __reduce__ of its own, which does not ask __getstate__.
    def __reduce__(self) -> tuple:
        return _unpickled, (type(self), self.name, self.__getstate__())

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k != "linker"}
        if not self._stores() and (self._loader or self._kb is None):
            state["_kb"] = None  # found again where it came from
        return state

    def _stores(self) -> bool:
        """Whether the base goes with the pipeline."""
        if self.store_kb is not None:
            return self.store_kb
        if self._loader is None:
            return self._kb is not None  # set by hand: found nowhere else
        return self._loader.name != "t2v.BuiltinKB.v1"

    def _reference(self) -> dict[str, Any]:
        stored = self._stores()
        loader = self._loader
        return {
            "stored": stored,
            "loader": loader and loader.name,
            "settings": loader and dict(loader.settings),
            "version": self.kb.version if self._kb is not None or stored else None,
        }

    def _restore(
        self, content: Mapping[str, Any], kb: KnowledgeBase | None
    ) -> UmlsLinker:
        from ..kb.loaders import KBLoader

        name = content["loader"]
        self._loader = KBLoader(name, content["settings"]) if name else None
        self._kb = kb
        self.__dict__.pop("linker", None)
        expected = content["version"]
        if kb is None and expected and self.kb.version != expected:
            found = self.kb.version
            message = error(Errors.T088, name=self.name, expected=expected, found=found)
            warnings.warn(str(message), UserWarning, stacklevel=3)
        return self


def _unpickled(
    kind: type[UmlsLinker], name: str, state: Mapping[str, Any]
) -> UmlsLinker:
    linker = kind.__new__(kind)
    linker.name = name
    linker.__dict__.update(state)
    return linker


def _shifted(links: Iterable[Link], by: int) -> Iterator[Link]:
    for link in links:
        yield link._replace(start=link.start + by, end=link.end + by)


def _span(doc: Doc, concept: Mapping[str, Any]) -> Span:
    """The tokens that a mention touches."""
    from ..kb.semantic_groups import group

    label = next(filter(None, map(group, concept["types"])), "CONCEPT")
    tokens = doc.char_span(concept["start"], concept["end"], alignment_mode="expand")
    assert tokens is not None  # an expanded span of a part of the text always is one
    return Span(doc, tokens.start, tokens.end, label=label, kb_id=concept["id"])


def _from_detector(item: Any) -> tuple[str, str]:
    """An abbreviation of scispaCy's detector, in either of its two forms."""
    if isinstance(item, Mapping):
        return item["short_text"], item["long_text"]
    return item.text, str(item._.long_form)


def _from_ents(doc: Doc, kb: KnowledgeBase) -> Iterator[tuple[str | None, Link]]:
    from ..kb.linker import Link

    if not Span.has_extension("kb_ents"):
        return
    for ent in doc.ents:
        known = [(i, score) for i, score in ent._.kb_ents or () if i in kb]
        if known:
            ids = tuple(concept_id for concept_id, _ in known)
            score = float(known[0][1])
            link = Link(ids, "scispacy", ent.start_char, ent.end_char, score)
            yield ent._.section, link
