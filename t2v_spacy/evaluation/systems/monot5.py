"""MonoT5 (Nogueira et al. 2020): a T5 that says "true" or "false" of a query and a
document, over what another system ranks first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForSeq2SeqLM

from ...errors import Errors, error
from ...ml.buckets import make_buckets
from ...ml.precision import autocast
from ...trial import Trial
from .base import Array, BaseSystem, System, document_text
from .bm25 import Bm25
from .loading import fingerprint, load_checkpoint, pad, reason
from .text_encoder import checked_precision
from .vector_cache import VectorCache

_PROMPT = ("Query:", "Document:", "Relevant:")
_BETWEEN = "\0"  # query and document of a pair; no document holds a control character


class MonoT5(BaseSystem):
    """Re-ranks the first trials of another system by the probability of "true".

    checkpoint (str): Folder or hub name of a T5 or mT5 made for this.
    tokenizer (str | None): The same, for a checkpoint that ships none.
    first (System | None): Ranks first. Defaults to None, BM25.
    top_k (int): Trials of each query that are re-ranked; of those in `among` where it
        is given. The others follow in the order of `first`.
    window (int): Wordpieces of query, document and prompt together.
    query_window (int): Wordpieces of the query's document that are read.
    true, false (str): The two wordpieces whose logits count.
    precision, max_tokens: See `TextEncoder`.
    cache (Path | None): Folder that keeps the score of each pair read.
    RAISES (T2VError): T111 if the checkpoint cannot be loaded, T026 for a setting out
        of range, T022 for a precision this machine cannot run.
    """

    name = "MonoT5"
    long_text = ""

    def __init__(
        self,
        *,
        checkpoint: str = "castorini/monot5-base-msmarco",
        tokenizer: str | None = None,
        first: System | None = None,
        top_k: int = 100,
        window: int = 512,
        query_window: int = 192,
        true: str = "▁true",
        false: str = "▁false",
        precision: str = "auto",
        max_tokens: int = 4096,
        cache: Path | None = None,
    ) -> None:
        super().__init__()
        self.long_text = (
            f"the first {query_window} wordpieces of the query and, of the trial, what "
            f"fills {window}"
        )
        for setting, value, right, limit in (
            ("top_k", top_k, top_k >= 1, "at least 1"),
            (
                "query_window",
                query_window,
                1 <= query_window <= window // 2,
                "1 to half of window",
            ),
        ):
            if not right:
                raise error(Errors.T026, setting=setting, value=value, reason=limit)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._precision = checked_precision(precision, self._device)
        try:
            self._model, self._tokenizer = load_checkpoint(
                checkpoint,
                AutoModelForSeq2SeqLM,
                tokenizer=tokenizer,
                types=("t5", "mt5"),
            )
            self._answers = self._ids_of(true, false)
        except (OSError, ValueError, ImportError) as err:
            raise error(
                Errors.T111, system=self.name, name=checkpoint, reason=reason(err)
            ) from err
        self._model.to(self._device)  # type: ignore[arg-type]
        self._first = first or Bm25()
        self._top_k, self._max_tokens = top_k, max_tokens
        self._window, self._query_window = window, query_window
        made_by = fingerprint(
            self._model,
            self._tokenizer,
            (window, query_window, self._answers, self._precision),
        )
        self._store = VectorCache(cache, made_by)

    def _ids_of(self, *tokens: str) -> list[int]:
        vocabulary = self._tokenizer.get_vocab()
        for token in tokens:
            if token not in vocabulary:
                raise ValueError(f"its tokenizer has no wordpiece {token}")
        return [vocabulary[token] for token in tokens]

    def train(self, trials: Sequence[Trial]) -> None:
        super().train(trials)
        self._first.train(trials)

    def _index(self, trials: Sequence[Trial]) -> None:
        self._first.fit(trials)
        self._texts = [document_text(trial) for trial in trials]

    def _score(self, queries: Sequence[Trial], among: Array | None) -> Array:
        first = self._first.scores(queries, among)
        # What is not read stays below what is: probabilities are above 0.
        found = first - first.max(axis=1, keepdims=True) - 1.0
        candidates = np.array([bool(text) for text in self._texts]) & (
            np.ones_like(first, bool) if among is None else among
        )
        pairs: list[tuple[int, int]] = []
        texts: list[str] = []
        for i, query in enumerate(map(document_text, queries)):
            if not query:
                continue
            order = np.argsort(-first[i], kind="stable")
            read = order[candidates[i, order]][: self._top_k]
            pairs += [(i, j) for j in read]
            texts += [query + _BETWEEN + self._texts[j] for j in read]
        if pairs:
            logits = self._store.vectors(texts, self._encode, name=self.name)[:, 0]
            rows, columns = np.array(pairs).T
            found[rows, columns] = 1 / (1 + np.exp(-logits.astype("float64")))
        return found

    def _encode(self, texts: list[str]) -> Array:
        """The logit of "true" less that of "false" of each pair: (pairs, 1)."""
        ids = self._wordpieces(texts)
        found = np.zeros((len(ids), 1), dtype="float32")
        lengths = np.array([len(sequence) for sequence in ids])
        with torch.inference_mode():
            for bucket in make_buckets(lengths, self._max_tokens):
                found[bucket, 0] = self._logits([ids[i] for i in bucket])
        return found

    def _wordpieces(self, texts: list[str]) -> list[list[int]]:
        """The prompt `Query: ... Document: ... Relevant:` of each pair."""
        halves = list(zip(*(text.split(_BETWEEN) for text in texts), strict=True))
        asked, document, relevant = self._tokenize(list(_PROMPT))
        queries, documents = (self._tokenize(list(half)) for half in halves)
        end = [*relevant, self._tokenizer.eos_token_id]
        found = []
        for query, text in zip(queries, documents, strict=True):
            start = [*asked, *query[: self._query_window], *document]
            room = max(0, self._window - len(start) - len(end))
            found.append([*start, *text[:room], *end])
        return found

    def _tokenize(self, texts: list[str]) -> list[list[int]]:
        flat = [" ".join(text.split()) for text in texts]
        return self._tokenizer(flat, add_special_tokens=False, verbose=False).input_ids

    def _logits(self, ids: list[list[int]]) -> Array:
        input_ids, mask = pad(ids, self._tokenizer.pad_token_id, self._device)
        start = self._model.config.decoder_start_token_id
        with autocast(self._precision, self._device):
            output = self._model(
                input_ids=input_ids,
                attention_mask=mask,
                decoder_input_ids=torch.full_like(input_ids[:, :1], start),
            )
        true, false = output.logits[:, 0, self._answers].float().T
        return (true - false).cpu().numpy()
