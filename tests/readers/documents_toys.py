"""A synopsis as a Word document, and PDF documents written byte by byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

SYNOPSIS = {
    "Study Title": "Colchicine for gout flares in adults",
    "Sponsor": "Toy Pharma",
    "Indication": "Gout",
    "Objectives": "To learn whether colchicine eases pain",
    "Inclusion criteria": "Adults with gout\nA flare that began within two days",
    "Exclusion criteria": "Renal failure",
    "Study drug": "Colchicine 0.5 mg",
    "Primary endpoint": "Pain at day 3",
}
FOUND = {
    "title": "Colchicine for gout flares in adults",
    "condition": "Gout",
    "summary": "To learn whether colchicine eases pain",
    "inclusion": "Adults with gout\nA flare that began within two days",
    "exclusion": "Renal failure",
    "intervention": "Colchicine 0.5 mg",
    "outcome": "Pain at day 3",
}


def write_docx(path: Path, *, table: bool, parts: Mapping[str, str] = SYNOPSIS) -> None:
    import docx

    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "CONFIDENTIAL header"
    document.sections[0].footer.paragraphs[0].text = "Footer, page 1"
    document.add_heading("Protocol Synopsis", 0)
    rows = document.add_table(0, 2) if table else None
    for heading, body in parts.items():
        lines = body.split("\n")
        if rows is not None:
            cells = rows.add_row().cells
            cells[0].text = heading
            cells[1].text = lines[0]
            for line in lines[1:]:
                cells[1].add_paragraph(line)
        else:
            document.add_heading(heading, 1)
            for line in lines:
                document.add_paragraph(line)
    document.save(str(path))


def make_pdf(
    pages: Sequence[Sequence[tuple[float, float, str]]], extra: str = ""
) -> bytes:
    """A PDF of pages of (x, y, text) in Courier, 10 points: 6 points a character; y is
    counted from the top. extra: more of the trailer."""
    contents = []
    for page in pages:
        shown = [
            f"BT /F1 10 Tf 1 0 0 1 {x} {792 - y} Tm ({_escaped(text)}) Tj ET"
            for x, y, text in page
        ]
        contents.append("\n".join(shown).encode("latin-1"))
    numbers = [4 + 2 * i for i in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
    ]
    for number, content in zip(numbers, contents, strict=True):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources "
            b"<< /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (number + 1),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\n" % (
        len(objects) + 1,
        extra.encode(),
    )
    return out + b"startxref\n%d\n%%%%EOF\n" % start


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def lines_at(
    lines: Sequence[str], *, x: float = 72, top: float = 100
) -> list[tuple[float, float, str]]:
    """Lines one under the other, 12 points apart; a blank one leaves a gap."""
    return [(x, top + 12 * i, line) for i, line in enumerate(lines) if line]
