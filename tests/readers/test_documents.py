from __future__ import annotations

import builtins
import zipfile
from io import BytesIO

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.readers.documents import is_document, read_document
from t2v_spacy.readers.markdown_text import markdown_text
from t2v_spacy.readers.page_lines import is_two_columns, pages_text
from t2v_spacy.sections.parse import parse_sections
from t2v_spacy.trial_text import parse_trial
from tests.conftest import make_trials

from .documents_toys import FOUND, SYNOPSIS, lines_at, make_pdf, write_docx

docx = pytest.importorskip("docx")
pytest.importorskip("pypdf")


def sections(text: str) -> dict[str, str]:
    """Label -> text of each section but design and other, without list marks."""
    found: dict[str, str] = {}
    for part in parse_sections(text):
        if part.label not in ("design", "other"):
            body = "\n".join(line.removeprefix("- ") for line in part.body(text).split("\n") if line)  # fmt: skip
            found[part.label] = body
    return found


# Word


@pytest.mark.parametrize("table", [True, False])
def test_a_synopsis_in_word(tmp_path, table):
    write_docx(tmp_path / "my draft.docx", table=table)
    text = read_document(tmp_path / "my draft.docx")
    assert sections(text) == FOUND
    for word in ("CONFIDENTIAL", "Footer"):
        assert word not in text
    trial = parse_trial(text)
    assert (trial.title, trial.conditions) == (SYNOPSIS["Study Title"], ("Gout",))
    assert [i.name for i in trial.interventions] == ["Colchicine 0.5 mg"]


def word(tmp_path, body: str):
    """A document whose body is this XML."""
    document = docx.Document()
    path = tmp_path / "a.docx"
    document.save(str(path))
    packed = BytesIO(path.read_bytes())
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "word/document.xml":
                data = f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'.encode()  # fmt: skip
            new.writestr(name, data)
    return path


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p>{run('Adults ')}<w:ins>{run('over 60 ')}</w:ins><w:del><w:r><w:delText>of any age </w:delText></w:r></w:del>{run('with gout')}</w:p>", "Adults over 60 with gout"),
        (f"<w:p><w:moveFrom>{run('gone')}</w:moveFrom><w:moveTo>{run('here')}</w:moveTo></w:p>", "here"),
        (f"<w:p><w:hyperlink>{run('a link')}</w:hyperlink></w:p>", "a link"),
        (f"<w:sdt><w:sdtContent><w:p>{run('in a control')}</w:p></w:sdtContent></w:sdt>", "in a control"),
        (f"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>{run('seen')}</w:p>", "seen"),
        ('<w:p><w:r><w:t>Age</w:t><w:sym w:font="Symbol" w:char="F0B3"/><w:t>18</w:t><w:noBreakHyphen/><w:t>65</w:t></w:r></w:p>', "Age≥18-65"),
        (f'<w:p><w:pPr><w:pStyle w:val="ListBullet"/></w:pPr>{run("one")}</w:p>', "- one"),
        (f'<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr>{run("two")}</w:p>', "- two"),
        (f'<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>{run("1. three")}</w:p>', "1. three"),
        (f'<w:p><w:pPr><w:pStyle w:val="ListBullet"/><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>{run("none")}</w:p>', "none"),
        (f"<w:p>{run('word')}<w:r><w:pict><w:txbxContent><w:p>{run('in a box')}</w:p></w:txbxContent></w:pict></w:r></w:p>", "word\nin a box"),
        (f'<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent><w:p>{run("Exclusion criteria 12")}</w:p></w:sdtContent></w:sdt><w:p>{run("text")}</w:p>', "text"),
        (f"<w:tbl><w:tr><w:tc><w:p>{run('a')}</w:p></w:tc><w:tc><w:p>{run('b')}</w:p></w:tc><w:tc><w:p>{run('c')}</w:p></w:tc></w:tr><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p>{run('d')}</w:p></w:tc></w:tr></w:tbl>", "a\tb\tc"),
        (f"<w:tbl><w:tr><w:tc><w:tbl><w:tr><w:tc><w:p>{run('inner')}</w:p></w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>", "inner"),
    ],
    ids=["tracked", "moved", "link", "control", "hidden", "symbols", "bullet", "numbered", "marked", "unnumbered", "box", "contents", "table", "nested"],
)  # fmt: skip
def test_what_word_keeps_where(tmp_path, body, text):
    assert read_document(word(tmp_path, body)) == text


# Markdown


def test_a_synopsis_in_markdown(tmp_path):
    parts = [f"## **{h}**\n\n" + "\n".join(f"* {x}" for x in b.split("\n")) for h, b in SYNOPSIS.items()]  # fmt: skip
    (tmp_path / "a.md").write_text("# Protocol Synopsis #\n\n" + "\n\n".join(parts))
    found = sections(read_document(tmp_path / "a.md"))
    assert {k: v.replace("* ", "") for k, v in found.items()} == FOUND
    rows = "\n".join(f"| **{h}** | {b.replace(chr(10), '<br>')} |" for h, b in SYNOPSIS.items() if h != "Study drug")  # fmt: skip
    (tmp_path / "b.md").write_text(f"| Part | Text |\n|:--|---|\n{rows}\n")
    expected = {k: v for k, v in FOUND.items() if k != "intervention"}
    assert sections(read_document(tmp_path / "b.md")) == expected


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Title\n=====\n\ntext", "Title\n\ntext"),
        ("**Gout:** *acute* and __old__, snake_case_name, 2*3*4", "Gout: acute and old, snake_case_name, 2*3*4"),
        ("Age \\>= 18 and `code` [link](http://x.org) ![a picture](b.png)", "Age >= 18 and code link a picture"),
        ("- [ ] one\n- [x] two\n+ three", "- one\n- two\n- three"),
        ("> quoted\n\n---\n\n```\nfenced\n```", "quoted\n\nfenced"),
        ("---\ntitle: A trial\n---\ntext", "title: A trial\n\ntext"),
        ("a <!-- note\nof an author --> b<br>c", "a  b\nc"),
        ("| a | b \\| c |\n| - | - |\n| Gout | |", "a\tb | c\nGout"),
        ("Pain | score", "Pain | score"),
        ("** not bold ** and * neither *", "** not bold ** and * neither *"),
    ],
)  # fmt: skip
def test_marks_of_markdown(marked, plain):
    assert markdown_text(marked) == plain


def test_our_own_text_is_left_as_it_is(tmp_path):
    trial = make_trials()[0]
    for name in ("a.md", "a.txt"):
        (tmp_path / name).write_text(trial.to_text())
        assert read_document(tmp_path / name) == trial.to_text()
    (tmp_path / "b.txt").write_bytes("Gicht und Müdigkeit".encode("latin-1"))
    assert read_document(tmp_path / "b.txt") == "Gicht und Müdigkeit"


# PDF


HEADER, FOOTER = "Toy Pharma  Protocol TP-1", "Confidential"


def framed(lines: list[str], page: int) -> list[tuple[float, float, str]]:
    return [
        (72, 40, HEADER),
        *lines_at(lines),
        (72, 740, FOOTER),
        (480, 740, f"Page {page} of 3"),
    ]


def test_a_synopsis_in_a_pdf_of_several_pages(tmp_path):
    pages = [
        framed(["Protocol Synopsis", "", "1. Study Title", SYNOPSIS["Study Title"], "", "2. Indication", "Gout", "", "Objectives"], 1),
        framed(["To learn whether colchicine, which has been used for two thousand", "years, eases the pain of gout in adults who cannot take any anti-", "inflammatory drug and in whom the treat-", "ment is safe."], 2),
        framed(["Inclusion criteria", "- Adults with gout", "- A flare that began within two days, as it is told by the partici-", "  pant", "Exclusion criteria", "- Renal failure", "", "Primary endpoint", "Pain at day 3"], 3),
    ]  # fmt: skip
    (tmp_path / "a.pdf").write_bytes(make_pdf(pages))
    text = read_document(tmp_path / "a.pdf")
    for word in ("TP-1", "Confidential", "Page"):
        assert word not in text
    assert sections(text) == {
        "title": SYNOPSIS["Study Title"],
        "condition": "Gout",
        "summary": "To learn whether colchicine, which has been used for two thousand years, eases the pain of gout in adults who cannot take any anti-inflammatory drug and in whom the treatment is safe.".replace("anti-inflammatory", "antiinflammatory"),
        "inclusion": "Adults with gout\nA flare that began within two days, as it is told by the participant",
        "exclusion": "Renal failure",
        "outcome": "Pain at day 3",
    }  # fmt: skip


def test_a_table_of_labels_and_contents_in_a_pdf(tmp_path):
    rows = [
        ("Study Title", "Colchicine for gout flares in adults who have had"),
        ("", "at least two of them"),
        ("Phase", "Phase 3"),
        ("Inclusion", "Adults with gout"),
        ("criteria", ""),
        ("Treatment", "Colchicine 0.5 mg"),
        ("Secondary", "Swelling"),
        ("endpoints", "Days off work"),
    ]
    left = lines_at([label for label, _ in rows])
    right = lines_at([content for _, content in rows], x=220)
    (tmp_path / "a.pdf").write_bytes(make_pdf([left + right]))
    assert sections(read_document(tmp_path / "a.pdf")) == {
        "title": "Colchicine for gout flares in adults who have had at least two of them",
        "inclusion": "Adults with gout",
        "intervention": "Colchicine 0.5 mg",
        "outcome": "Swelling\nDays off work",
    }


def test_a_number_that_is_not_of_the_page_stays():
    pages = [["Sample size", "120", "1"], ["Doses", "30", "2"], ["Visits", "7", "3"]]
    assert pages_text(pages).split("\n") == ["Sample size", "120", "Doses", "30", "Visits", "7"]  # fmt: skip
    assert pages_text([["Sample size", "120"]]) == "Sample size\n120"
    assert pages_text([["Text", "Page 1 of 1"], ["- 2 -"]]) == "Text"


def test_headers_of_left_and_right_pages_go():
    pages = [[f"{'Left' if n % 2 else 'Right'} header", "", f"Text {'abcdef'[n]}"] for n in range(6)]  # fmt: skip
    assert "header" not in pages_text(pages)
    assert pages_text(pages).count("Text") == 6
    assert pages_text([["Same"], ["Other"]]) == "Same\nOther"


def test_numbers_of_sections_are_not_those_of_pages():
    pages = [[f"{n} Part {'abc'[n]}", "text", f"Chapter {'xyz'[n]}     {n + 7}"] for n in range(3)]  # fmt: skip
    text = pages_text(pages)
    assert [line for line in text.split("\n") if "Part" in line] == ["0 Part a", "1 Part b", "2 Part c"]  # fmt: skip
    assert "Chapter" not in text


WIDE = "The quick words of a line that reaches the right margin of the page"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([WIDE, "goes on"], f"{WIDE} goes on"),
        ([WIDE + ".", "Then another."], f"{WIDE}. Then another."),
        ([WIDE, "", "A paragraph"], f"{WIDE}\n\nA paragraph"),
        ([WIDE, "- an item"], f"{WIDE}\n- an item"),
        ([WIDE, "Exclusion criteria"], f"{WIDE}\nExclusion criteria"),
        ([WIDE, "A short line", "Another"], f"{WIDE} A short line\nAnother"),
        (["drug one", "drug two"], "drug one\ndrug two"),
        ([WIDE + " randomi-", "sation"], f"{WIDE} randomisation"),
        ([WIDE + " double-", "blind"], f"{WIDE} double-blind"),
        ([WIDE + " well-", "being", "", "being well"], f"{WIDE} well-being\n\nbeing well"),
        ([WIDE + " anti-", "bodies", "", "antibodies"], f"{WIDE} antibodies\n\nantibodies"),
        ([WIDE + " of G-", "CSF for 36-", "48 hours"], f"{WIDE} of G-CSF for 36-48 hours"),
        ([WIDE + " treat\u00ad", "ment"], f"{WIDE} treatment"),
        (["Eligibility criteria . . . . . . 12", "Text"], "Text"),
    ],
)  # fmt: skip
def test_lines_of_a_paragraph_are_joined(lines, text):
    assert pages_text([lines]) == text


def test_two_columns_of_prose_are_told_from_a_table():
    prose = [f"{'word ' * 8:<45}{'word ' * 8}" for _ in range(12)]
    table = [f"{'Study Title':<25}{'word ' * 8}" for _ in range(12)]
    assert is_two_columns(prose)
    assert not is_two_columns(table)
    assert not is_two_columns([])


# what cannot be read


@pytest.mark.parametrize(
    ("name", "content", "code", "reason"),
    [
        ("a.pdf", b"%PDF-1.7 gout", "T170", "a PDF document: it is damaged"),
        ("a.pdf", b"gout", "T170", "its content is something else"),
        ("a.pdf", make_pdf([[], []]), "T170", "none of its pages has text"),
        ("a.docx", b"gout", "T170", "its content is something else"),
        ("a.docx", b"PK\x03\x04 gout", "T170", "it is damaged"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 9, "T170", "old Office"),
        ("a.rtf", b"{\\rtf1 gout}", "T170", "rich text"),
        ("a.txt", b"<!DOCTYPE html><p>gout", "T030", "an HTML page"),
        ("a.txt", b"gout\0\0\0", "T030", "binary data"),
        ("a.txt", b"  \n", "T002", "is empty"),
        ("a.md", b"# ---\n\n***", "T170", "it has no words"),
    ],
)
def test_what_is_refused_and_why(tmp_path, name, content, code, reason):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(T2VError, match=code) as caught:
        read_document(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)


def test_archives_folders_and_missing_files(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("xl/workbook.xml", "x")
    with pytest.raises(T2VError, match="T030.*an archive"):
        read_document(tmp_path / "a.docx")
    with zipfile.ZipFile(tmp_path / "b.docx", "w") as archive:
        archive.writestr("word/document.xml", "<w:document>")
    with pytest.raises(T2VError, match="T170.*damaged"):
        read_document(tmp_path / "b.docx")
    with pytest.raises(T2VError, match="T030.*a folder"):
        read_document(tmp_path)
    with pytest.raises(T2VError, match="T001"):
        read_document(tmp_path / "no such.docx")


def test_a_pdf_with_a_password(tmp_path):
    import pypdf

    (tmp_path / "a.pdf").write_bytes(make_pdf([lines_at(["Gout"])]))
    for password, readable in [("", True), ("secret", False)]:
        writer = pypdf.PdfWriter(clone_from=tmp_path / "a.pdf")
        writer.encrypt(password, "owner", algorithm="RC4-128")
        writer.write(tmp_path / "b.pdf")
        if readable:
            assert read_document(tmp_path / "b.pdf") == "Gout"
        else:
            with pytest.raises(T2VError, match="T170.*password"):
                read_document(tmp_path / "b.pdf")


def test_limits_are_named(tmp_path):
    write_docx(tmp_path / "a.docx", table=False)
    (tmp_path / "a.pdf").write_bytes(make_pdf([lines_at(["one"]), lines_at(["two"])]))
    size = (tmp_path / "a.docx").stat().st_size
    for name, limits, setting in [
        ("a.docx", {"max_bytes": size - 1}, "max_bytes"),
        ("a.docx", {"max_bytes": size}, "max_bytes"),  # it unpacks to more
        ("a.pdf", {"max_pages": 1}, "max_pages"),
    ]:
        with pytest.raises(T2VError, match=rf"T171.*{setting} is"):
            read_document(tmp_path / name, **limits)
    assert read_document(tmp_path / "a.pdf", max_pages=2) == "one\ntwo"


@pytest.mark.parametrize(("name", "package"), [("a.docx", "docx"), ("a.pdf", "pypdf")])
def test_the_extra_is_named(tmp_path, monkeypatch, name, package):
    write_docx(tmp_path / "a.docx", table=False)
    (tmp_path / "a.pdf").write_bytes(make_pdf([lines_at(["one"])]))
    real = builtins.__import__

    def without(wanted, *args, **kwargs):
        if wanted.split(".")[0] == package:
            raise ImportError(wanted)
        return real(wanted, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(T2VError, match=r"T172.*t2v_spacy\[documents\]"):
        read_document(tmp_path / name)


def test_documents_are_told_from_records(tmp_path):
    write_docx(tmp_path / "a.docx", table=False)
    (tmp_path / "a.bin").write_bytes((tmp_path / "a.docx").read_bytes())
    (tmp_path / "b.bin").write_bytes(make_pdf([[]]))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.json", "{}")
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "a.txt").write_text("gout")
    found = [p.name for p in sorted(tmp_path.iterdir()) if is_document(p)]
    assert found == ["a.bin", "a.docx", "b.bin"]
    assert is_document(tmp_path / "no such.md")


def box(inner: str) -> str:
    return f"<w:p><w:r><w:t>out</w:t></w:r><w:txbxContent>{inner}</w:txbxContent></w:p>"


def test_a_box_within_a_box_is_read_once(tmp_path):
    inner = "<w:p><w:r><w:t>Gout</w:t></w:r></w:p>"
    for _ in range(30):
        inner = box(inner)
    assert read_document(word(tmp_path, inner)).count("Gout") == 1


def test_odd_levels_of_lists_and_outlines(tmp_path):
    def item(level: str, text: str, more: str = "") -> str:
        number = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
        return f"<w:p><w:pPr>{more or number}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"

    body = item("x", "one") + item("50000000", "two")
    body += item("0", "Treatment", '<w:outlineLvl w:val="9"/>')
    text = read_document(word(tmp_path, body))
    assert text.split("\n")[0] == "- one"
    assert len(text) < 60
    assert text.endswith("Treatment")


def test_a_picture_that_unpacks_to_much_is_refused(tmp_path):
    path = word(tmp_path, "<w:p/>")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/media/a.jpeg", bytes(12_000_000))
    with pytest.raises(T2VError, match="T171"):
        read_document(path, max_bytes=1_000_000)


def test_damage_within_a_word_file_is_said(tmp_path):
    path = tmp_path / "a.docx"
    word(tmp_path, "<w:p><w:r><w:t>Gout</w:t></w:r></w:p>")
    data = path.read_bytes().replace(b"<w:body>", b"<w:nody>").replace(b"</w:body>", b"</w:nody>")  # fmt: skip
    path.write_bytes(data)
    with pytest.raises(T2VError, match="T170"):
        read_document(path)


def test_a_page_with_a_byte_order_mark_is_a_page(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf<!DOCTYPE html><p>Gout</p>")
    with pytest.raises(T2VError, match="T030"):
        read_document(tmp_path / "a.txt")


def test_a_limit_at_the_start_of_a_line_is_no_quotation():
    assert markdown_text(">= 18 years\n> quoted").split("\n")[0] == ">= 18 years"
