"""Speed and precision of the encoder on real trials, all measured in one run.

Compared, on the same trials, backbone and text:
(a) spacy-transformers' own TransformerModel.v3 over the same windows as spans,
(b) a bare Hugging Face loop over the same sequences, sorted by length.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import spacy
import torch
import typer
from spacy.tokens import Doc, Span

from t2v_spacy import Trial, make_trial_doc, read_trials
from t2v_spacy.ml.backbone import find_backbone
from t2v_spacy.ml.bucketed_transformer import build_bucketed_transformer
from t2v_spacy.ml.span_getters import section_spans
from t2v_spacy.ml.windows import Windows, make_windows


def main(
    trials: Path,
    n: Annotated[int, typer.Option(help="Trials to encode.")] = 200,
    backbone: Annotated[str, typer.Option()] = "all-MiniLM-L6-v2",
    rounds: Annotated[int, typer.Option(help="Rounds; the best counts.")] = 3,
    int8: Annotated[bool, typer.Option(help="Measure ONNX int8 too.")] = True,
) -> None:
    """Print documents a second of each way, interleaved over the rounds."""
    whole = (t for t in read_trials(trials) if t.eligibility and t.title)
    records = list(islice(whole, n))
    systems: dict[str, Callable[[], object]] = {}
    found: dict[str, np.ndarray] = {}
    for precision in ("float32", "bf16", *(["int8"] if int8 else [])):
        nlp = make_pipeline(backbone, precision)

        def encode(nlp=nlp, name=precision) -> None:  # type: ignore[no-untyped-def]
            found[name] = run_pipeline(nlp, records)

        systems[f"t2v {precision}"] = encode
    model = nlp.get_pipe("transformer").model
    windows = windows_of(model, [parse(nlp, t) for t in records])
    hf_model = load(backbone)
    systems["bare loop, each sequence once"] = lambda: bare_loop(hf_model, windows.ids)
    every = [windows.ids[i] for i in windows.sequence]
    systems["bare loop, all sequences"] = lambda: bare_loop(hf_model, every)
    theirs = make_theirs(backbone)
    docs = [parse(nlp, t).text for t in records]
    systems["spacy-transformers v3"] = lambda: list(theirs.pipe(docs))
    best = dict.fromkeys(systems, float("inf"))
    for _ in range(rounds):
        for name, run in systems.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    print_table(best, found, windows, n)


def print_table(best, found, windows, n) -> None:  # type: ignore[no-untyped-def]
    ours = best["t2v float32"]
    pieces = int(windows.lengths.sum())
    typer.echo(
        f"{n} trials, {len(windows.sequence)} sequences, {len(windows.ids)} different, "
        f"{pieces} wordpieces; {torch.get_num_threads()} threads\n"
    )
    typer.echo("| system | seconds | trials/s | time relative to t2v float32 |")
    typer.echo("|---|---|---|---|")
    for name, seconds in best.items():
        typer.echo(
            f"| {name} | {seconds:.1f} | {n / seconds:.1f} | {seconds / ours:.2f} |"
        )
    typer.echo("\n| precision | mean cosine to float32 | least |\n|---|---|---|")
    for name, vectors in found.items():
        cosine = (vectors * found["float32"]).sum(axis=1)
        typer.echo(f"| {name} | {cosine.mean():.5f} | {cosine.min():.5f} |")


def make_pipeline(backbone: str, precision: str) -> spacy.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    model = {
        "@architectures": "t2v.BucketedTransformerModel.v1",
        "name": backbone,
        "get_spans": {"@span_getters": "t2v.section_spans.v1"},
        "precision": precision,
    }
    nlp.add_pipe("transformer", config={"model": model, "max_batch_items": 262144})
    nlp.add_pipe("trial2vec")
    nlp.initialize()
    nlp.batch_size = 128
    nlp(make_trial_doc(nlp, Trial("NCT90000001", title="Warm up")))
    return nlp


def make_theirs(backbone: str) -> spacy.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    model = {
        "@architectures": "spacy-transformers.TransformerModel.v3",
        "name": find_backbone(backbone),
        "get_spans": {"@span_getters": "t2v.section_spans.v1"},
    }
    nlp.add_pipe("transformer", config={"model": model})
    nlp.initialize()
    cutter = build_bucketed_transformer(backbone, section_spans(), keep_tokens=True)
    cutter.initialize()
    nlp.get_pipe("transformer").model.attrs["get_spans"] = lambda docs: [
        windows_as_spans(cutter, doc) for doc in docs
    ]
    return nlp


def windows_as_spans(cutter, doc: Doc) -> list[Span]:  # type: ignore[no-untyped-def]
    """The windows of one Doc as spans, so that both encode the same text."""
    windows = windows_of(cutter, [doc])
    spans = []
    for _, text, rows in windows.texts:
        for row in range(rows.start, rows.stop):
            offsets = windows.offsets[windows.sequence[row]]
            real = offsets[offsets[:, 1] > offsets[:, 0]]
            first, last = text.doc_offsets(np.array([real[0, 0], real[-1, 1] - 1]))
            spans.append(
                doc.char_span(int(first), int(last) + 1, alignment_mode="expand")
            )
    return spans or [doc[:]]


def windows_of(model, docs: list[Doc]) -> Windows:  # type: ignore[no-untyped-def]
    spans = model.attrs["get_spans"](docs)
    return make_windows(model.tokenizer, spans, model.attrs["run"].windows)


def parse(nlp: spacy.Language, trial: Trial) -> Doc:
    return nlp.get_pipe("trial_parser")(make_trial_doc(nlp, trial))


def run_pipeline(nlp: spacy.Language, records: list[Trial]) -> np.ndarray:
    docs = nlp.pipe(make_trial_doc(nlp, trial) for trial in records)
    return np.stack([doc._.trial_vector for doc in docs])


def load(backbone: str):  # type: ignore[no-untyped-def]
    from transformers import AutoModel

    return AutoModel.from_pretrained(find_backbone(backbone)).eval()


def bare_loop(model, ids: list[list[int]], max_tokens: int = 4096) -> None:  # type: ignore[no-untyped-def]
    """What anyone would write: sort by length, pad, run, mean."""
    ids = sorted(ids, key=len, reverse=True)
    start = 0
    with torch.no_grad():
        while start < len(ids):
            batch = ids[start : start + max(1, max_tokens // len(ids[start]))]
            start += len(batch)
            longest = len(batch[0])
            rows = torch.tensor([row + [0] * (longest - len(row)) for row in batch])
            mask = torch.tensor(
                [[1] * len(r) + [0] * (longest - len(r)) for r in batch]
            )
            hidden = model(input_ids=rows, attention_mask=mask).last_hidden_state
            (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


if __name__ == "__main__":
    typer.run(main)
