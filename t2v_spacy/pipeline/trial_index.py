"""`trial_index`: optional pipe that looks each doc up in a TrialIndex."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc

from ..errors import Errors, error
from ..extensions import install_extensions

if TYPE_CHECKING:
    from spacy.training import Example

    from ..search.filters import Filters
    from ..search.trial_index import TrialIndex

_INDEX, _SETTINGS = "index", "settings.json"


@Language.factory(
    "trial_index",
    requires=["doc._.trial_vector"],
    assigns=["doc._.similar_trials"],
    default_config={"path": None, "k": 10, "filters": None},
)
def make_trial_index(
    nlp: Language, name: str, path: str | None, k: int, filters: dict[str, Any] | None
) -> TrialIndexPipe:
    return TrialIndexPipe(name, path=path, k=k, filters=filters)


class TrialIndexPipe(Pipe):
    """Writes `doc._.similar_trials`: a list of plain dicts (nct_id, score, rank, title,
    why), best first, or None for a doc without a vector.

    path (str): Folder of the index, opened when first needed. A pipe that was saved
        has its own copy of the index and does not look there.
    k (int): Trials per doc. Neither it nor `filters` is saved with the pipe: the config
        at load counts.
    filters (dict): Only trials that pass these, see `search.Filters`.
    """

    def __init__(
        self,
        name: str = "trial_index",
        *,
        path: str | None = None,
        k: int = 10,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> None:
        if k < 1:
            raise error(Errors.T047, k=k)
        if filters:
            from ..search.filters import Filters

            # A mistake is said at once, and the values are read once for all docs.
            filters = Filters.of(filters)
        self.name = name
        self.path = path
        self.k = k
        self.filters = filters
        self._index: TrialIndex | None = None
        install_extensions()

    @property
    def index(self) -> TrialIndex:
        """The index. RAISES (T050): none is set. (T001, T040, T041): not readable."""
        if self._index is None:
            if self.path is None:
                raise error(Errors.T050, name=self.name)
            from ..search.trial_index import TrialIndex

            self._index = TrialIndex.from_disk(self.path)
        return self._index

    @index.setter
    def index(self, index: TrialIndex) -> None:
        self._index = index

    def __call__(self, doc: Doc) -> Doc:
        install_extensions()
        index = self.index
        if doc._.trial_vector is None:
            doc._.similar_trials = None
        else:
            hits = index.search(doc, self.k, filters=self.filters)
            doc._.similar_trials = [hit.to_dict() for hit in hits]
        return doc

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        path: str | None = None,
    ) -> None:
        """Open the index: of `path`, or of the path in the settings if there is one."""
        if path is not None:
            self.path, self._index = path, None
        if self.path is not None:
            self._index = self.index

    def to_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> None:
        """Save a copy of the index, if there is one."""
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        saved = self._has_index and _INDEX not in exclude
        srsly.write_json(path / _SETTINGS, {"index": saved})
        if saved:
            self.index.to_disk(path / _INDEX)

    def from_disk(
        self, path: Path | str, *, exclude: Iterable[str] = ()
    ) -> TrialIndexPipe:
        path = Path(path)
        saved = srsly.read_json(path / _SETTINGS)["index"]
        if saved and _INDEX not in exclude:
            from ..search.trial_index import TrialIndex

            self._index = TrialIndex.from_disk(path / _INDEX)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        data: dict[str, bytes] = {}
        if self._has_index and _INDEX not in exclude:
            data[_INDEX] = self.index.to_bytes()
        return srsly.msgpack_dumps(data)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> TrialIndexPipe:
        content = srsly.msgpack_loads(data)
        if _INDEX in content and _INDEX not in exclude:
            from ..search.trial_index import TrialIndex

            self._index = TrialIndex.from_bytes(content[_INDEX])
        return self

    @property
    def _has_index(self) -> bool:
        return self._index is not None or self.path is not None
