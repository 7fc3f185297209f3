"""Records of an XML stream, one at a time: the file is never held as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

_CHUNK = 1 << 16
# Results are long and nothing of them is kept but that they are there.
_SKIPPED = "clinical_results"
_CUT = (expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS],) + tuple(
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


class XmlError(Exception):
    """Why reading stopped: line is the line in the file (from 1)."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason
        super().__init__(f"line {line}: {reason}")


def iter_records(stream: BinaryIO) -> Iterator[tuple[int, Element]]:
    """Each `clinical_study`, and each `study` of a `search_results`, with its line.

    Expat itself, and not iterparse, is used so that a declared entity stops the
    reading before it can be expanded.
    RAISES (XmlError): not XML, cut short, a web page, or holding no record.
    """
    records = _Records()
    while True:
        chunk = stream.read(_CHUNK)
        try:
            records.parser.Parse(chunk, not chunk)
        except expat.ExpatError as err:
            yield from records.take()
            raise XmlError(err.lineno, records.explain(err)) from err
        yield from records.take()
        if not chunk:
            break
    if not records.found:
        raise XmlError(1, records.nothing())


class _Records:
    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.parser.EntityDeclHandler = self._entity
        self.root = ""
        self.found = 0
        self._done: list[tuple[int, Element]] = []
        self._builder: TreeBuilder | None = None
        self._line = 0
        self._depth = 0
        self._skipping = 0

    def take(self) -> list[tuple[int, Element]]:
        done, self._done = self._done, []
        return done

    def explain(self, err: expat.ExpatError) -> str:
        if err.code in _CUT:
            return "the file is cut short" if self.root else "the file is empty"
        message = expat.ErrorString(err.code)
        return f"not well-formed XML ({message})" if self.root else "not XML"

    def nothing(self) -> str:
        if self.root == "search_results":
            return "the search result holds no study"
        return f"no trial record in it (it is a <{self.root}>)"

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.root:
            self.root = tag
            if tag.lower() == "html":
                raise XmlError(
                    self.parser.CurrentLineNumber, "a web page, not a trial record"
                )
        if self._builder is None:
            if tag != "clinical_study" and (tag, self.root) != (
                "study",
                "search_results",
            ):
                return
            self._builder = TreeBuilder()
            self._line = self.parser.CurrentLineNumber
        if self._skipping or tag == _SKIPPED:
            self._skipping += 1
            if self._skipping > 1:
                return
        self._depth += 1
        self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        if self._builder is None:
            return
        if self._skipping:
            self._skipping -= 1
            if self._skipping:
                return
        self._builder.end(tag)
        self._depth -= 1
        if not self._depth:
            self._done.append((self._line, self._builder.close()))
            self._builder = None
            self.found += 1

    def _data(self, text: str) -> None:
        if self._builder is not None and not self._skipping:
            self._builder.data(text)

    def _entity(self, *_: object) -> None:
        raise XmlError(
            self.parser.CurrentLineNumber, "it declares entities, which is not safe"
        )
