from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.cli.init_config import fill_config
from thinc.api import Config

CONFIGS = sorted((Path(__file__).parent.parent / "configs").rglob("*.cfg"))
PIPES = {
    "trial2vec": [
        *("trial_parser", "umls_linker", "transformer", "trial2vec", "doc_cleaner"),
    ],
    "termination": ["textcat"],
    "termination_finetuned": ["trial_parser", "transformer", "textcat", "doc_cleaner"],
}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_each_config_is_filled(path, tmp_path):
    out = tmp_path / "filled.cfg"
    fill_config(out, path, silent=True)
    assert (
        out.read_text(encoding="utf8").strip()
        == path.read_text(encoding="utf8").strip()
    )


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_each_config_makes_a_pipeline_without_problems(path, tiny_backbone):
    config = Config().from_disk(path, overrides={"paths.backbone": tiny_backbone})
    nlp = spacy.util.load_model_from_config(config, auto_fill=False)
    assert nlp.pipe_names == PIPES.get(path.stem, PIPES["trial2vec"])
    problems = nlp.analyze_pipes()["problems"]
    assert not any(problems.values()), problems


def test_a_misspelt_setting_is_named():
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="overwrit"):
        nlp.add_pipe("trial_parser", config={"overwrit": True})
