"""NLM's MeSH files, as XML and as ASCII: the same invented records in both."""

from __future__ import annotations

import gzip

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb.mesh import read_mesh


def descriptor(ui, name, trees, extra="", concepts="") -> str:
    numbers = "".join(f"<TreeNumber>{number}</TreeNumber>" for number in trees)
    return f"""<DescriptorRecord DescriptorClass="1">
      <DescriptorUI>{ui}</DescriptorUI>
      <DescriptorName><String>{name}</String></DescriptorName>
      {extra}<TreeNumberList>{numbers}</TreeNumberList>
      <ConceptList>{concepts}</ConceptList></DescriptorRecord>"""


def concept(preferred, name, terms, note="", relation="") -> str:
    items = "".join(
        f'<Term IsPermutedTermYN="{permuted}"><TermUI>T1</TermUI>'
        f"<String>{term}</String></Term>"
        for term, permuted in terms
    )
    return f"""<Concept PreferredConceptYN="{preferred}"><ConceptUI>M1</ConceptUI>
      <ConceptName><String>{name}</String></ConceptName>
      {f"<ScopeNote>{note}</ScopeNote>" if note else ""}{relation}
      <TermList>{items}</TermList></Concept>"""


def referred(tag, ui) -> str:
    return (
        f"<{tag}List><{tag}><DescriptorReferredTo><DescriptorUI>{ui}</DescriptorUI>"
        f"<DescriptorName><String>Elsewhere</String></DescriptorName>"
        f"</DescriptorReferredTo></{tag}></{tag}List>"
    )


HAND = concept(
    "Y",
    "Giant Hand",
    [("Giant Hand", "N"), ("Hand, Giant", "Y"), ("Macrocheiria", "N")],
    "A hand\n  that is big. ",
)
NARROWER = concept("N", "Giant Thumb", [("Giant Thumb", "N")], "Not this note.")
DESC_XML = f"""<?xml version="1.0"?><DescriptorRecordSet LanguageCode="eng">
{descriptor("D900001", "Hand Diseases", ["C05.100"])}
{
    descriptor(
        "D900002",
        "Giant Hand",
        ["C05.100.200", "C17.300"],
        referred("SeeRelatedDescriptor", "D900099"),
        NARROWER + HAND,
    )
}
{
    descriptor(
        "D900003", "Handoxin", ["D03.100"], referred("PharmacologicalAction", "D900004")
    )
}
{descriptor("D900004", "Hand Relaxants", ["D27.505.100"])}
{descriptor("D000971", "Combined Protocols", ["E02.319.100"])}
</DescriptorRecordSet>"""


def supplement(ui, name, mapped, note="") -> str:
    headings = "".join(
        f"<HeadingMappedTo><DescriptorReferredTo><DescriptorUI>{m}</DescriptorUI>"
        "</DescriptorReferredTo></HeadingMappedTo>"
        for m in mapped
    )
    return f"""<SupplementalRecord SCRClass="1">
      <SupplementalRecordUI>{ui}</SupplementalRecordUI>
      <SupplementalRecordName><String>{name}</String></SupplementalRecordName>
      <Note>{note}</Note><HeadingMappedToList>{headings}</HeadingMappedToList>
      <ConceptList>{concept("Y", name, [(name, "N"), (f"{name} X", "N")])}</ConceptList>
      </SupplementalRecord>"""


SUPP_XML = f"""<SupplementalRecordSet>
{supplement("C900001", "handoxin B", ["*D900003"], "A salt.")}
{supplement("C900002", "HAND protocol", ["*D000971", "D900003"])}
</SupplementalRecordSet>"""

DESC_ASCII = """*NEWRECORD
RECTYPE = D
MH = Hand Diseases
MN = C05.100
ST = T047
UI = D900001

*NEWRECORD
RECTYPE = D
MH = Giant Hand
PRINT ENTRY = Macrocheiria|T047|NON|EQV|NLM (2031)|310624|abcdef
ENTRY = Giant Thumb
MN = C05.100.200
MN = C17.300
FX = Hand Relaxants
MS = A hand that is big.
ST = T190
ST = T047
UI = D900002

*NEWRECORD
RECTYPE = D
MH = Handoxin
MN = D03.100
PA = Hand Relaxants
UI = D900003

*NEWRECORD
RECTYPE = D
MH = Hand Relaxants
MN = D27.505.100
UI = D900004

*NEWRECORD
RECTYPE = D
MH = Combined Protocols
MN = E02.319.100
UI = D000971

*NEWRECORD
RECTYPE = Q
SH = surgery
UI = Q900001
"""
SUPP_ASCII = """*NEWRECORD
RECTYPE = C
NM = handoxin B
SY = handoxin B X|T109|NON|EQV|NLM (2031)|310624|abcdef
HM = *Handoxin
NO = A salt.
UI = C900001

*NEWRECORD
RECTYPE = C
NM = HAND protocol
SY = HAND protocol X
HM = *Combined Protocols/therapeutic use
HM = Handoxin
UI = C900002
"""


@pytest.fixture
def write(tmp_path):
    def written(**files):
        paths = [tmp_path / name.replace("_", ".") for name in files]
        for path, text in zip(paths, files.values(), strict=True):
            path.write_text(text, encoding="utf8")
        return paths

    return written


@pytest.fixture(params=["xml", "ascii"])
def files(request, write):
    if request.param == "xml":
        return write(desc2031_xml=DESC_XML, supp2031_xml=SUPP_XML)
    return write(d2031_bin=DESC_ASCII, c2031_bin=SUPP_ASCII)


def test_records(files):
    kb = read_mesh(files)
    assert kb.version == "MeSH 2031"
    assert list(kb.ids())[-2:] == ["MESH:C900001", "MESH:C900002"]
    hand = kb["MESH:D900002"]
    assert hand.canonical_name == "Giant Hand"
    assert hand.aliases == ("Macrocheiria", "Giant Thumb")
    assert hand.definition == "A hand that is big."
    assert hand.parents == ("MESH:D900001",)
    assert kb.roles("MESH:D900003") == {"role": ("MESH:D900004",)}
    salt = kb["MESH:C900001"]
    assert salt.parents == ("MESH:D900003",)
    assert salt.aliases == ("handoxin B X",)
    assert salt.definition == "A salt."


def test_components_of_a_protocol_are_no_parents(files):
    kb = read_mesh(files)
    protocol = kb["MESH:C900002"]
    assert protocol.parents == ("MESH:D000971",)
    assert protocol.roles == {"component": ("MESH:D900003",)}


def test_types_are_stated_or_from_the_tree(write):
    xml = read_mesh(write(desc2031_xml=DESC_XML, supp2031_xml=SUPP_XML))
    assert xml.types("MESH:D900002") == ("T047",)
    assert xml.types("MESH:C900001") == ("T109", "T121")
    stated = read_mesh(write(d2031_bin=DESC_ASCII))
    assert stated.types("MESH:D900002") == ("T190", "T047")
    assert stated.types("MESH:D900003") == ("T109", "T121")


def test_tree_numbers_from_a_file_of_their_own(write):
    bare = "".join(
        line + "\n" for line in DESC_ASCII.splitlines() if not line.startswith("MN")
    )
    trees = "Hand Diseases;C05.100\nGiant Hand;C05.100.200\n"
    kb = read_mesh(write(d2031_bin=bare, mtrees2031_bin=trees))
    assert kb.parents("MESH:D900002") == ("MESH:D900001",)


def test_packed(tmp_path):
    path = tmp_path / "desc2031.xml.gz"
    path.write_bytes(gzip.compress(DESC_XML.encode()))
    assert len(read_mesh([path])) == 5
    path.write_bytes(gzip.compress(DESC_XML.encode())[:-30])
    assert "[T005]" in failure([path])


def failure(paths) -> str:
    with pytest.raises(T2VError) as err:
        read_mesh(paths)
    return str(err.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DESC_XML[:-60], "file"),
        (DESC_XML.replace("<DescriptorUI>D900001</DescriptorUI>", ""), "without id"),
        (DESC_ASCII.replace("MS = ", "MS: "), "line 16"),
        (DESC_ASCII.replace("UI = D900001\n", ""), "record at line 1"),
        ("not,a,mesh,file\n", "neither"),
        ("", "neither"),
    ],
)
def test_a_bad_file_is_named(write, text, reason):
    paths = write(desc2031_xml=text)
    said = failure(paths)
    assert "[T005]" in said and str(paths[0]) in said and reason in said


def test_missing_files_and_no_records(write, tmp_path):
    assert "[T001]" in failure([tmp_path / "desc2031.xml"])
    assert "[T085]" in failure(write(mtrees2031_bin="Hand Diseases;C05.100\n"))
    assert "[T085]" in failure(write(desc2031_xml="<DescriptorRecordSet/>"))
