"""UltraBERT here against transformers' own class: equal numbers, time and memory.

The own class lives in another environment, with transformers 5.20 or later, in which
this script runs itself again. There it makes random checkpoints and what comes out of
them; here our class reads them.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

TINY = {
    "vocab_size": 48,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "sliding_window": 8,
    "prediction_head_size": 12,
    # One over the root of the width: states keep their size, and what a token sees
    # matters. With more, float32 itself is 1e-3 off in the wide models.
    "initializer_range": 0.25,
}
LONG = TINY | {
    "hidden_size": 64,
    "num_hidden_layers": 6,
    "sliding_window": 128,
    "initializer_range": 0.125,
}
# Name -> settings, tokens of each row, side of the padding, type of the weights, head.
CASES: dict[str, tuple[dict[str, Any], list[int], str, str, bool]] = {
    "right": (TINY, [60, 33, 7], "right", "float32", False),
    "left": (TINY, [60, 33, 7], "left", "float32", False),
    "one_head": (TINY | {"num_key_value_heads": 1}, [61], "right", "float32", False),
    "biases": (
        TINY | {"head_dim": 6, "attention_bias": True, "mlp_bias": True},
        [25, 40],
        "right",
        "float32",
        False,
    ),
    "bfloat16": (TINY, [60, 33, 7], "right", "bfloat16", False),
    "tied": (TINY | {"tie_word_embeddings": True}, [40, 9], "right", "float32", True),
    "untied": (TINY, [40, 9], "right", "float32", True),
    "within": (LONG, [128, 129, 130], "right", "float32", False),
    "beyond": (LONG, [385, 700, 131, 3], "right", "float32", False),
    "beyond_left": (LONG, [385, 700, 131, 3], "left", "float32", False),
    "beyond_bfloat16": (LONG, [385, 700, 131, 3], "left", "bfloat16", False),
    "half_window": (LONG | {"sliding_window": 50}, [1000], "right", "float32", False),
}
SPEED = {
    "vocab_size": 8000,
    "hidden_size": 384,
    "intermediate_size": 512,
    "num_hidden_layers": 6,
    "num_attention_heads": 6,
    "initializer_range": 0.05,
}


@app.command()
def parity(
    work: Annotated[Path, typer.Argument(help="Folder for checkpoints.")],
    python: Annotated[
        Path | None, typer.Option(help="Python that has transformers 5.20 or later.")
    ] = None,
    most: Annotated[float, typer.Option(help="Largest difference allowed.")] = 1e-4,
) -> None:
    """Compare states, and the logits of heads; exit 1 where they differ by more."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoModelForMaskedLM

    from t2v_spacy.ml.ultrabert import register_ultrabert

    register_ultrabert()
    native = python or make_environment(work)
    call(native, "native-cases", str(work))
    typer.echo("| case | tokens | side | largest difference | largest value |")
    typer.echo("|---|---|---|---:|---:|")
    failed = False
    for name, (_, lengths, side, _, head) in CASES.items():
        expected = load_file(work / name / "expected.safetensors")
        kind = AutoModelForMaskedLM if head else AutoModel
        model = kind.from_pretrained(work / name).eval()
        mask = expected["attention_mask"]
        with torch.no_grad():
            found = model(expected["input_ids"], mask)[0][mask > 0]
        wanted = expected["output"][mask > 0]
        difference = float((found - wanted).abs().max())
        failed |= not difference <= most
        sizes = " ".join(map(str, lengths))
        largest = float(wanted.abs().max())
        typer.echo(f"| {name} | {sizes} | {side} | {difference:.1e} | {largest:.1f} |")
        if "half" in expected:
            half = kind.from_pretrained(work / name, torch_dtype=torch.bfloat16)
            with torch.no_grad():
                states = half.eval()(expected["input_ids"], mask)[0][mask > 0]
            ours, theirs = states.float(), expected["half"][mask > 0]
            for label, rows in (("ours", ours), ("theirs", theirs)):
                cosine = torch.cosine_similarity(rows, wanted, dim=-1)
                value = f"cosine {cosine.mean():.5f}, least {cosine.min():.5f}"
                typer.echo(f"| {name}, run in bfloat16, {label} | | | {value} | |")
        model.save_pretrained(work / f"{name}_back")
    back = json.loads(call(native, "native-back", str(work)))
    for name, difference in back.items():
        failed |= not difference <= most
        typer.echo(f"| {name}, saved here, read there | | | {difference:.1e} | |")
    raise typer.Exit(int(failed))


@app.command()
def speed(
    work: Annotated[Path, typer.Argument(help="Folder for the checkpoint.")],
    python: Annotated[
        Path | None, typer.Option(help="Python that has transformers 5.20 or later.")
    ] = None,
    lengths: Annotated[list[int], typer.Option()] = [512, 2048, 8192],  # noqa: B006
    rounds: Annotated[int, typer.Option(help="Passes of each; the median counts.")] = 9,
    rows: Annotated[int, typer.Option(help="Texts of a batch.")] = 1,
    shortest: Annotated[
        float, typer.Option(help="Shortest text as a share of the longest.")
    ] = 1.0,
    train: Annotated[bool, typer.Option(help="Forward and backward.")] = False,
    dtype: Annotated[str, typer.Option()] = "float32",
) -> None:
    """Processor time of a pass, in alternation, one thread, and the memory it takes."""
    native = python or make_environment(work)
    call(native, "native-speed", str(work))
    order = {"rows": rows, "shortest": shortest, "train": train}
    heads = ("own class, s", "here, s", "time", "own class, MB", "here, MB", "memory")
    typer.echo(f"| tokens | {' | '.join(heads)} |")
    typer.echo("|---:|---:|---:|---:|---:|---:|---:|")
    for length in lengths:
        task = order | {"length": length}
        seconds: dict[str, list[float]] = {"own": [], "ours": []}
        memory: dict[str, float] = {}
        with (
            timer(native, work, dtype) as own,
            timer(sys.executable, work, dtype) as ours,
        ):
            pair = [("own", own), ("ours", ours)]
            for name, ask in pair:
                # The peak is told in a fresh process: later, memory that was freed
                # hides what a pass takes.
                ask(task | {"length": 64})
                memory[name] = ask(task)["megabytes"]
            for turn in range(rounds):
                for name, ask in pair if turn % 2 else reversed(pair):
                    seconds[name].append(ask(task)["seconds"])
        time_own, time_ours = (statistics.median(s) for s in seconds.values())
        typer.echo(
            f"| {length:,} | {time_own:.3f} | {time_ours:.3f} "
            f"| {time_ours / time_own:.2f} | {memory['own']:.0f} "
            f"| {memory['ours']:.0f} | {memory['ours'] / memory['own']:.2f} |"
        )


def make_environment(work: Path) -> Path:
    """A new virtual environment under `work` with transformers' own class."""
    folder = work / "environment"
    python = folder / "bin" / "python"
    if not python.is_file():
        venv.create(folder, with_pip=True)
        wanted = ["torch", "transformers>=5.20,<6", "numpy"]
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
    return python


def call(python: Path, *arguments: str) -> str:
    command = [str(python), __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


@contextmanager
def timer(python: Path | str, work: Path, dtype: str) -> Iterator[Any]:
    """A process that holds the model and answers each order with one timed pass."""
    command = [str(python), __file__, "answer", str(work), dtype]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    orders, answers = process.stdin, process.stdout

    def ask(order: dict[str, Any]) -> dict[str, float]:
        orders.write(json.dumps(order) + "\n")
        orders.flush()
        return json.loads(answers.readline())

    try:
        yield ask
    finally:
        orders.close()
        process.wait()


@app.command(hidden=True)
def answer(work: Path, dtype: str) -> None:
    """Runs in both environments: a pass for each line of stdin."""
    import torch
    from transformers import AutoModel

    torch.set_num_threads(1)
    if dtype == "bfloat16":
        torch.set_default_dtype(torch.bfloat16)
    own = is_native()
    if not own:
        from t2v_spacy.ml.ultrabert import register_ultrabert

        register_ultrabert()
    kind = {"dtype" if own else "torch_dtype": getattr(torch, dtype)}
    model = AutoModel.from_pretrained(work / "speed", **kind).eval()
    for line in sys.stdin:
        order = json.loads(line)
        length, rows = order["length"], order["rows"]
        step = (1 - order["shortest"]) / max(1, rows - 1)
        sizes = [round(length * (1 - step * row)) for row in range(rows)]
        ids, mask = make_batch(sizes, "right", SPEED["vocab_size"])
        before = reset_peak()
        start = time.process_time()  # of this one thread, whatever else runs
        with torch.set_grad_enabled(order["train"]):
            found = model(ids, attention_mask=mask).last_hidden_state
        if order["train"]:
            found.mean().backward()
        seconds = time.process_time() - start
        megabytes = (read_memory("VmHWM") - before) / 1024
        typer.echo(json.dumps({"seconds": seconds, "megabytes": megabytes}))
        sys.stdout.flush()


def reset_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return read_memory("VmRSS")


def read_memory(key: str) -> int:
    """Kilobytes, on Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


def make_batch(sizes: list[int], side: str, vocab: int) -> tuple[Any, Any]:
    import torch

    chance = random.Random(0)
    longest = max(sizes)
    ids, mask = [], []
    for size in sizes:
        row = [chance.randrange(1, vocab) for _ in range(size)]
        gap = [0] * (longest - size)
        ids.append(gap + row if side == "left" else row + gap)
        real = [1] * size
        mask.append(gap + real if side == "left" else real + gap)
    return torch.tensor(ids), torch.tensor(mask)


def is_native() -> bool:
    """Whether transformers has the class itself."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return "ultrabert" in CONFIG_MAPPING


def make_native(settings: dict[str, Any], head: bool) -> Any:
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM

    if not is_native():
        raise SystemExit("this transformers has no UltraBERT: 5.20 or later is needed")
    torch.manual_seed(0)
    config = AutoConfig.for_model("ultrabert", **settings)
    kind = AutoModelForMaskedLM if head else AutoModel
    model = kind.from_config(config).eval()
    for name, weights in model.named_parameters():
        if "norm" in name:
            weights.data.normal_(1.0, 0.2)
        elif name.endswith("bias"):
            weights.data.normal_(0.0, 0.2)
    return model


@app.command(hidden=True)
def native_cases(work: Path) -> None:
    """Runs in the other environment: checkpoints, and what comes out of them."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModel, AutoModelForMaskedLM

    for name, (settings, sizes, side, dtype, head) in CASES.items():
        folder = work / name
        model = make_native(settings, head).to(getattr(torch, dtype))
        model.save_pretrained(folder)
        ids, mask = make_batch(sizes, side, settings["vocab_size"])
        found = {"input_ids": ids, "attention_mask": mask}
        kind = AutoModelForMaskedLM if head else AutoModel
        with torch.no_grad():
            exact = kind.from_pretrained(folder, dtype=torch.float32).eval()
            found["output"] = exact(ids, attention_mask=mask)[0]
            if dtype == "bfloat16":
                found["half"] = model(ids, attention_mask=mask)[0].float()
        save_file(found, folder / "expected.safetensors")
    save_tokenizer(work / "right")


def save_tokenizer(folder: Path) -> None:
    """A byte-pair tokenizer in the files that this transformers writes, and ids."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<s>", "</s>", "<mask>", "<unk>"]
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    text = "Colchicine for gout flares in adults"
    learn = trainers.BpeTrainer(
        vocab_size=TINY["vocab_size"] - 1, special_tokens=special, show_progress=False
    )
    trained.train_from_iterator([text], learn)
    trained.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=trained,
        pad_token="<pad>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token="<mask>",
        unk_token="<unk>",
        additional_special_tokens=["<trial>"],
        model_max_length=32_768,
    )
    tokenizer.save_pretrained(folder)
    text = f"<trial> {text} with gout"
    written = {"text": text, "ids": tokenizer(text)["input_ids"]}
    (folder / "expected.json").write_text(json.dumps(written))


@app.command(hidden=True)
def native_back(work: Path) -> None:
    """Runs in the other environment: what our class saved gives the same."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoModelForMaskedLM

    differences = {}
    for name, (_, _, _, _, head) in CASES.items():
        kind = AutoModelForMaskedLM if head else AutoModel
        model, info = kind.from_pretrained(
            work / f"{name}_back", dtype=torch.float32, output_loading_info=True
        )
        expected = load_file(work / name / "expected.safetensors")
        mask = expected["attention_mask"]
        with torch.no_grad():
            found = model.eval()(expected["input_ids"], attention_mask=mask)[0]
        apart = (found - expected["output"])[mask > 0].abs().max()
        lacking = info["missing_keys"] or info["unexpected_keys"]
        differences[name] = float("inf") if lacking else float(apart)
    typer.echo(json.dumps(differences))


@app.command(hidden=True)
def native_speed(work: Path) -> None:
    """Runs in the other environment: the checkpoint that both are timed with."""
    make_native(SPEED, False).save_pretrained(work / "speed")


if __name__ == "__main__":
    app()
