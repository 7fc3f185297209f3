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

from ..errors import Errors, T2VError, error
from ..files import pack, unpack
from ..trial import Trial
from .annoy_store import EXACT_BELOW, N_TREES
from .build import IndexEntry, warn_of, write_index
from .composed import Composed
from .corpus import Corpus
from .filters import Filters, Given
from .hit import Hit
from .query import Query, read_query
from .ranking import Asked, Found, find, read_hybrid
from .selection import FilterReport
from .storage import (
    check_replaceable,
    open_index,
    save_changes,
    save_index,
    temporary_folder,
    write_copy,
)
from .vectors import Array

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__all__ = ["REBUILD_ABOVE", "Hit", "IndexEntry", "TrialIndex"]

REBUILD_ABOVE = 0.1
# Of meta.json: what is said in another way, or is of no use to a person.
_HIDDEN = ("files", "store", "changes")


class TrialIndex:
    """Trials with their vectors, searched by cosine.

    Made by `build` or `from_disk`. All large parts are memory-mapped. `add` and
    `remove` change what is searched at once, and the folder when `save_changes` or
    `to_disk` is called.

    nlp (Language): Pipeline that encodes texts and records given to `search`, or None.
    meta (dict): What meta.json says.
    """

    def __init__(self, folder: Path, *, verify: bool = True) -> None:
        self.nlp: Language | None = None
        self._owned: weakref.finalize | None = None
        self._open(folder, verify)

    def _open(self, folder: Path, verify: bool) -> None:
        self._opened = open_index(folder, verify)
        self.path = folder
        self.meta = self._opened.meta

    @property
    def _corpus(self) -> Corpus:
        return self._opened.corpus

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
        folder = temporary_folder(work_dir)
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
        the folder holds something else. (T051): another run is writing it. (T048): no
        trial is left. (T165): it is the index's own folder and another run has changed
        that since it was opened.
        """
        path = Path(path).resolve()
        check_replaceable(path)
        same = path == self.path.resolve()
        if same and not self._corpus.changed:
            return
        save_index(self._opened, path)
        if same:
            self._open(path, verify=False)

    def save_changes(self, *, rebuild_above: float = REBUILD_ABOVE) -> str:
        """Write what was added and removed to the folder the index was opened from.

        Few changes go beside the files, which are not touched: this takes as long as
        the changes are many, not the trials. Who opens the folder meanwhile sees it as
        it was before or as it is after. Returns "nothing", "changes" or "rebuilt".

        rebuild_above: Share of the trials in the files. Of more changes, those saved
            before included, the index is written anew, as `to_disk` does.
        RAISES (T168): the index has no folder yet. (T010, T051, T165): as `to_disk`.
        """
        corpus = self._corpus
        if self._owned is not None:
            raise error(Errors.T168)
        if not corpus.unsaved:
            return "nothing"
        n_changes = corpus.added + corpus.removed
        if len(self) and n_changes > rebuild_above * len(corpus.store):
            self.to_disk(self.path)
            return "rebuilt"
        save_changes(self._opened)
        self._open(self.path, verify=False)
        return "changes"

    def to_bytes(self) -> bytes:
        """The whole index, with what was added or removed merged, as bytes."""
        if not self._corpus.changed and self._opened.is_current:
            return pack(self.path)
        with tempfile.TemporaryDirectory() as folder:
            write_copy(self._opened, Path(folder))
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
        # An index as it is on disk travels as its path: workers share its pages.
        opened = self._opened
        if not (self._owned or opened.corpus.unsaved) and opened.is_current:
            return {"path": self.path.resolve(), "stamp": opened.stamp}
        return {"data": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "path" in state:
            TrialIndex.__init__(self, state["path"], verify=False)
            if self._opened.stamp != state["stamp"]:
                reason = "another index has taken its place meanwhile"
                raise error(Errors.T041, path=self.path, reason=reason)
            return
        folder = temporary_folder()
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
        "annoy" or "exact"). "added" and "removed" count what is not merged yet, saved
        or not, "unsaved" says whether there is more to save."""
        corpus, changes = self._corpus, self.meta.get("changes", {"files": {}})
        files = (*self.meta["files"].values(), *changes["files"].values())
        facts = {k: v for k, v in self.meta.items() if k not in _HIDDEN}
        if corpus.changed:
            facts["sections"] = corpus.section_counts()
            facts["snapshots"] = corpus.snapshots()
        not_indexed = corpus.not_indexed()
        return {
            **facts,
            "n_items": len(self),
            "not_indexed": {reason: len(ids) for reason, ids in not_indexed.items()},
            "added": corpus.added,
            "removed": corpus.removed,
            "unsaved": corpus.unsaved,
            "search": corpus.store.method,
            "size": sum(file["size"] for file in files),
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
        """Add trials. They are searched exactly, at once; see `save_changes`.

        An id that is there gets the new record, an alias of a trial that is there and
        a trial without vector are left out; each is said aloud. Returns the numbers
        "added", "replaced", "left_out". RAISES (T044): a vector of another width.
        """
        notes: list[T2VError] = []
        try:
            return self._corpus.add(entries, notes)
        finally:
            warn_of(notes)

    def remove(self, nct_ids: Iterable[str]) -> int:
        """Remove trials by id or alias; returns how many. RAISES (T043): one is not
        there; then none is removed."""
        return self._corpus.remove([self._place(nct_id) for nct_id in nct_ids])

    # searching

    def search(
        self,
        query: Trial | Doc | Array | str | Composed,
        k: int = 10,
        *,
        parts: Sequence[str] | Mapping[str, float] | None = None,
        against: str = "trial",
        nlp: Language | None = None,
        exact: bool = False,
        search_k: int | None = None,
        filters: Given = None,
        hybrid: bool | Mapping[str, float] = False,
    ) -> list[Hit]:
        """The k trials most like the query, best first; never the query itself.

        query: a Trial or free text (encoded with `nlp`, or `self.nlp`), a processed
            Doc, an id or alias of a trial in the index, several ids, a vector (width,),
            or a Composed of several of these.
        parts: search by these sections of the query only: by the mean of their
            vectors, weighted if it is label -> weight. A text without headings, or a
            vector, is taken as the part.
        against: "trial" compares with whole trials, "section" with the same sections
            of each trial (exactly; mean over the parts, an absent one counts 0).
        exact: compare with every trial instead of asking Annoy.
        search_k: nodes Annoy looks at; more is slower and finds more. With filters it
            looks at more, or compares with all that pass.
        filters: only trials that pass, see `Filters`; k of them if there are so many.
            `filter_report` says what each filter does.
        hybrid: order by the ranks of several rankings: name -> weight of "vectors",
            "words" (BM25) and "concepts"; True takes the weights in `meta["hybrid"]`.
            The score shown stays the cosine, `Hit.ranks` has the ranks. Whatever is set
            here, in a query of at most 40 words the trials that have a drug code, gene
            variant or registry id of the query go first.
        RAISES (T008): unknown part. (T024): no pipeline. (T025): blank query. (T026):
        a setting or vector out of range. (T042): wrong width. (T043): unknown id.
        (T047): k below 1. (T049): the query has none of the parts. (T149): weights of
        rankings that cannot be used. (T158): no words in the index. (T160, T161, T162):
        a filter that cannot be used. (T173): several that leave nothing. (T174): a
        weight of a part that is not above 0.
        """
        if k < 1:
            raise error(Errors.T047, k=k)
        if against not in ("trial", "section"):
            reason = 'known are "trial" and "section"'
            raise error(Errors.T026, setting="against", value=against, reason=reason)
        weights = read_hybrid(hybrid, self.meta.get("hybrid"))
        chosen = Filters.of(filters)
        among = self._corpus.select(chosen).rows if chosen else None
        found = read_query(self, query, parts, nlp or self.nlp)
        if against == "section" and not (found.parts or found.sections):
            raise error(Errors.T049, parts="any section", present="none")
        asked = Asked(
            found,
            k,
            among,
            sections=against == "section",
            method="exact" if exact else "auto",
            search_k=search_k,
        )
        return self._hits(found, find(self._corpus, asked, weights))

    def filter_report(self, filters: Given) -> FilterReport:
        """How many trials pass filters, and what each left out. RAISES as `search`."""
        return self._corpus.select(Filters.of(filters)).report

    def passing(self, filters: Given = None) -> list[str]:
        """Main ids of all trials that pass filters, in the order of the index; of all
        trials without any. RAISES (T160, T161, T162): as `search`."""
        ids, there = self.ids(), self._corpus.passing(Filters())
        found = np.searchsorted(there, self._corpus.passing(Filters.of(filters)))
        return [ids[i] for i in found.tolist()]

    def countries(self) -> list[str]:
        """Countries that trials have places in, as records name them, each by one of
        its names, in alphabetical order; each is a value of the filter `country`."""
        return self._corpus.countries()

    def _hits(self, query: Query, found: Found) -> list[Hit]:
        places = found.places
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
                rank=i + 1,
                title=heads[place][1],
                why=dict(sorted(row.items(), key=lambda item: -item[1])),
                ranks={name: int(ranks[i]) for name, ranks in found.ranks.items()},
                read=partial(self.__getitem__, heads[place][0]),
            )
            for i, (place, score, row) in enumerate(
                zip(places.tolist(), found.scores.tolist(), why, strict=True)
            )
        ]
