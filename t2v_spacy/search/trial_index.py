"""TrialIndex: a folder of trials that answers which ones resemble a query."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import srsly

from ..errors import Errors, error
from ..files import digest, pack, recover, replaced_folder, unpack, writing
from ..trial import Trial
from .annoy_store import EXACT_BELOW, N_TREES, TREES
from .build import FORMAT, FORMAT_VERSION, META, TWICE, IndexEntry, write_index
from .corpus import Corpus
from .filters import Filters
from .hit import Hit
from .query import Query, read_query
from .selection import FilterReport
from .vectors import Array, highest

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__all__ = ["Hit", "IndexEntry", "TrialIndex", "check_replaceable"]


class TrialIndex:
    """Trials with their vectors, searched by cosine.

    Made by `build` or `from_disk`. All large parts are memory-mapped. `add` and
    `remove` keep changes beside the files until `to_disk` writes a new index.

    nlp (Language): Pipeline that encodes texts and records given to `search`, or None.
    meta (dict): What meta.json says.
    """

    def __init__(self, folder: Path, *, verify: bool = True) -> None:
        self.nlp: Language | None = None
        self._owned: weakref.finalize | None = None
        self._open(folder, verify)

    def _open(self, folder: Path, verify: bool) -> None:
        self.path = folder
        self.meta = _read_meta(folder)
        try:
            _verify_files(folder, self.meta["files"], verify)
            self._corpus = Corpus(folder, self.meta)
        except (KeyError, TypeError) as err:
            reason = f"{META} is not complete ({err!r})"
            raise error(Errors.T041, path=folder, reason=reason) from err

    # making, saving, sending

    @classmethod
    def build(
        cls,
        entries: Iterable[IndexEntry],
        *,
        n_trees: int = N_TREES,
        seed: int = 0,
        n_jobs: int = 1,
        exact_below: int = EXACT_BELOW,
        meta: Mapping[str, Any] | None = None,
        work_dir: Path | str | None = None,
    ) -> TrialIndex:
        """Index the entries in a temporary folder, which goes when the index does.

        Trials without text, or with a vector that has no direction, are not indexed:
        `meta["not_indexed"]` lists them by reason. An id given twice counts once.
        meta: facts to keep: source, backbone, pipeline, any other.
        exact_below: up to this many trials NumPy answers, which is exact.
        work_dir: where the temporary folder is made.
        RAISES (T048): nothing to index. (T044): a vector of another width. (T010): not
        writable.
        """
        folder = _temporary(work_dir)
        try:
            write_index(
                folder,
                entries,
                n_trees=n_trees,
                seed=seed,
                n_jobs=n_jobs,
                exact_below=exact_below,
                meta=meta,
            )
            index = cls(folder, verify=False)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        index._own()
        return index

    def _own(self) -> None:
        """Remove the folder with this object."""
        self._owned = weakref.finalize(self, shutil.rmtree, self.path, True)

    @classmethod
    def from_disk(cls, path: Path | str, *, verify: bool = True) -> TrialIndex:
        """Open an index folder.

        verify (bool): Compare the checksum of every file. Sizes are compared always,
            and the Annoy file is checked in full always.
        RAISES (T001): no folder. (T040): no index, or of another format version.
        (T041): damaged. (T046): another metric.
        """
        return cls(Path(path), verify=verify)

    def to_disk(self, path: Path | str) -> None:
        """Write the index to a folder, in the place of an older one if there is one.

        What was added or removed is merged and the trees built anew. An older index
        stays untouched until the new one is complete. RAISES (T010): not writable, or
        the folder holds something else. (T051): another run is writing it.
        """
        path = Path(path).resolve()
        check_replaceable(path)
        same = path == self.path.resolve()
        if same and not self._corpus.pending:
            return
        with replaced_folder(path) as new:
            self._write(new)
        if same:
            self._open(path, verify=False)

    def _write(self, folder: Path) -> None:
        if not self._corpus.pending:
            with writing(folder):
                shutil.copytree(self.path, folder, dirs_exist_ok=True)
            return
        not_indexed = {
            reason: [nct_id for nct_id in ids if reason == TWICE or nct_id not in self]
            for reason, ids in self.meta["not_indexed"].items()
        }
        write_index(
            folder,
            self.entries(),
            n_trees=self.meta["n_trees"],
            seed=self.meta["seed"],
            exact_below=self.meta["exact_below"],
            meta={**self.meta, "not_indexed": not_indexed},
        )

    def to_bytes(self) -> bytes:
        """The whole index, with what was added or removed, as bytes."""
        if not self._corpus.pending:
            return pack(self.path)
        with tempfile.TemporaryDirectory() as folder:
            self._write(Path(folder))
            return pack(Path(folder))

    @classmethod
    def from_bytes(cls, data: bytes) -> TrialIndex:
        """Inverse of `to_bytes`; the files go to a temporary folder.

        RAISES (T041): the bytes are not those of an index.
        """
        index = cls.__new__(cls)
        index.__setstate__({"data": data})
        return index

    def __getstate__(self) -> dict[str, Any]:
        # An unchanged index on disk travels as its path: workers share its pages.
        if self._owned is None and not self._corpus.pending:
            return {"path": self.path.resolve(), "stamp": digest(self.path / META)}
        return {"data": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "path" in state:
            TrialIndex.__init__(self, state["path"], verify=False)
            if digest(self.path / META) != state["stamp"]:
                reason = "another index has taken its place meanwhile"
                raise error(Errors.T041, path=self.path, reason=reason)
            return
        folder = _temporary(None)
        try:
            unpack(state["data"], folder)
            TrialIndex.__init__(self, folder, verify=False)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._own()

    # reading

    def __len__(self) -> int:
        return len(self._corpus)

    def __contains__(self, nct_id: object) -> bool:
        return isinstance(nct_id, str) and self._corpus.find(nct_id) is not None

    def __getitem__(self, nct_id: str) -> Trial:
        """The record of an id or alias. RAISES (T043): not in this index."""
        return self._corpus.trial(self._place(nct_id))

    def ids(self) -> list[str]:
        """Main ids of all trials, in the order of the index."""
        return self._corpus.ids()

    def vector(self, nct_id: str) -> Array:
        """float32 (width,), of length 1. RAISES (T043): not in this index."""
        return self._corpus.vector(self._place(nct_id))

    def section_vectors(self, nct_id: str) -> dict[str, Array]:
        """Label -> float32 (width,). RAISES (T043): not in this index."""
        return self._corpus.section_vectors(self._place(nct_id))

    def entries(self) -> Iterator[IndexEntry]:
        """Everything an index like this one is built from, in order."""
        return self._corpus.entries()

    def info(self) -> dict[str, Any]:
        """What the index is: facts of meta.json, counts, and what answers ("search":
        "annoy" or "exact")."""
        hidden = ("files", "store", "not_indexed")
        return {
            **{k: v for k, v in self.meta.items() if k not in hidden},
            "n_items": len(self),
            "not_indexed": {k: len(v) for k, v in self.meta["not_indexed"].items()},
            "added": len(self._corpus.pending.added),
            "removed": len(self._corpus.pending.removed),
            "search": self._corpus.store.method,
            "size": sum(file["size"] for file in self.meta["files"].values()),
            "path": str(self.path),
        }

    def _place(self, nct_id: str) -> int:
        place = self._corpus.find(nct_id)
        if place is None:
            source = self.meta.get("source") or "source not recorded"
            shown = nct_id.strip()
            raise error(Errors.T043, nct_id=shown, n=len(self), source=source)
        return place

    # changing

    def add(self, entries: Iterable[IndexEntry]) -> dict[str, int]:
        """Add trials, searched exactly beside the index until `to_disk` merges them.

        An id that is there gets the new record, an alias of a trial that is there and
        a trial without vector are left out; each is said aloud. Returns the numbers
        "added", "replaced", "left_out". RAISES (T044): a vector of another width.
        """
        return self._corpus.add(entries)

    def remove(self, nct_ids: Iterable[str]) -> int:
        """Remove trials by id or alias; returns how many. RAISES (T043): one is not
        there; then none is removed."""
        return self._corpus.remove([self._place(nct_id) for nct_id in nct_ids])

    # searching

    def search(
        self,
        query: Trial | Doc | Array | str,
        k: int = 10,
        *,
        parts: Sequence[str] | None = None,
        against: str = "trial",
        nlp: Language | None = None,
        exact: bool = False,
        search_k: int | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> list[Hit]:
        """The k trials most like the query, best first; never the query itself.

        query: a Trial or free text (encoded with `nlp`, or `self.nlp`), a processed
            Doc, an id or alias of a trial in the index, or a vector (width,).
        parts: search by these sections of the query only: by the mean of their
            vectors. A text without headings, or a vector, is taken as the part.
        against: "trial" compares with whole trials, "section" with the same sections
            of each trial (exactly; mean over the parts, an absent one counts 0).
        exact: compare with every trial instead of asking Annoy.
        search_k: nodes Annoy looks at; more is slower and finds more. With filters it
            looks at more, so that as many of them pass.
        filters: only trials that pass, see `Filters`; k of them if there are so many.
            `filter_report` says what each filter does.
        RAISES (T008): unknown part. (T024): no pipeline. (T025): blank query. (T026):
        a setting or vector out of range. (T042): wrong width. (T043): unknown id.
        (T047): k below 1. (T049): the query has none of the parts. (T160, T161, T162):
        a filter that cannot be used.
        """
        if k < 1:
            raise error(Errors.T047, k=k)
        if against not in ("trial", "section"):
            reason = 'known are "trial" and "section"'
            raise error(Errors.T026, setting="against", value=against, reason=reason)
        chosen = Filters.of(filters)
        among = self._corpus.select(chosen).rows if chosen else None
        found = read_query(self, query, parts, nlp or self.nlp)
        places = {self._corpus.find(nct_id) for nct_id in found.ids}
        own = {place for place in places if place is not None}
        if against == "section":
            if not (found.parts or found.sections):
                raise error(Errors.T049, parts="any section", present="none")
            scores = self._corpus.section_scores(found.parts or found.sections)
            if among is not None:
                scores[~among] = np.nan
            best = highest(scores, k, own)
            return self._hits(found, best, scores[best])
        method = "exact" if exact else "auto"
        return self._hits(
            found, *self._corpus.nearest(found.vector, k, own, method, search_k, among)
        )

    def filter_report(
        self, filters: Filters | Mapping[str, Any] | None
    ) -> FilterReport:
        """How many trials pass filters, and what each left out. RAISES as `search`."""
        return self._corpus.select(Filters.of(filters)).report

    def _hits(self, query: Query, places: Array, scores: Array) -> list[Hit]:
        heads = self._corpus.heads(places)
        why: list[dict[str, float]] = [{} for _ in places]
        for label, vector in query.sections.items():
            cosines = self._corpus.section_cosines(label, vector, places)
            for row, cosine in zip(why, cosines.tolist(), strict=True):
                if not np.isnan(cosine):
                    row[label] = cosine
        return [
            Hit(
                nct_id=heads[place][0],
                score=score,
                rank=rank,
                title=heads[place][1],
                why=dict(sorted(row.items(), key=lambda item: -item[1])),
                read=partial(self.__getitem__, heads[place][0]),
            )
            for rank, (place, score, row) in enumerate(
                zip(places.tolist(), scores.tolist(), why, strict=True), start=1
            )
        ]


def check_replaceable(path: Path) -> None:
    """RAISES (T010): the path holds something that is not an index."""
    if path.is_dir() and not (path / META).is_file() and any(path.iterdir()):
        reason = "the folder holds files that are not a trial index"
        raise error(Errors.T010, path=path, reason=reason)
    if path.exists() and not path.is_dir():
        raise error(Errors.T010, path=path, reason="a file is in the way")


def _temporary(parent: Path | str | None) -> Path:
    with writing(Path(parent or tempfile.gettempdir())):
        return Path(tempfile.mkdtemp(prefix="t2v-index-", dir=parent))


def _read_meta(folder: Path) -> dict[str, Any]:
    recover(folder)
    if not folder.exists():
        raise error(Errors.T001, path=folder)
    if not (folder / META).is_file():
        raise error(Errors.T040, path=folder, reason=f"it has no {META}")
    try:
        meta = srsly.read_json(folder / META)
    except ValueError as err:
        reason = f"{META} is not JSON ({err})"
        raise error(Errors.T041, path=folder, reason=reason) from err
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        reason = f"{META} is not that of an index"
        raise error(Errors.T040, path=folder, reason=reason)
    if meta.get("format_version") != FORMAT_VERSION:
        reason = (
            f"it has format version {meta.get('format_version')}, this version of "
            f"t2v_spacy reads version {FORMAT_VERSION}"
        )
        raise error(Errors.T040, path=folder, reason=reason)
    return meta


def _verify_files(folder: Path, files: Mapping[str, Any], checksums: bool) -> None:
    for name, expected in files.items():
        path = folder / name
        reason = None
        if not path.is_file():
            reason = f"{name} is missing"
        elif path.stat().st_size != expected["size"]:
            size = path.stat().st_size
            reason = f"{name} has {size} bytes instead of {expected['size']}"
        # The store checks the Annoy file itself, whatever is asked for here.
        elif checksums and name != TREES and digest(path) != expected["sha256"]:
            reason = f"{name} has a wrong checksum"
        if reason:
            raise error(Errors.T041, path=folder, reason=reason)
