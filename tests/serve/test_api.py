"""What each address answers."""

from __future__ import annotations

import csv
import io
import json

import pytest

from t2v_spacy.search import TrialIndex
from t2v_spacy.search.composed import Composed

from .conftest import HOSTILE, N, nct


@pytest.fixture(scope="module")
def index(served_index) -> TrialIndex:
    return TrialIndex.from_disk(served_index)


def ask(client, path="search", **body):
    answer = client.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(answer) -> list[str]:
    return [hit["nct_id"] for hit in answer["hits"]]


def test_a_text_finds_what_the_index_finds(client, index, toy_nlp):
    answer = ask(client, text="gout and drug3", k=4)
    hits = index.search("gout and drug3", 4, nlp=toy_nlp)
    assert ids(answer) == [hit.nct_id for hit in hits]
    assert [h["score"] for h in answer["hits"]] == [round(h.score, 4) for h in hits]
    assert [h["rank"] for h in answer["hits"]] == [1, 2, 3, 4]
    assert (answer["total"], answer["k"], answer["offset"]) == (N, 4, 0)
    first = answer["hits"][0]
    number = int(first["nct_id"][4:])
    assert first["facts"]["sponsor"] == f"Sponsor {number % 4}"
    assert first["facts"]["enrollment"] == {"count": 10 * number, "actual": True}
    assert first["facts"]["start_date"] == f"{2010 + number % 5}-03"
    assert first["reasons"]["nct_id"] == first["nct_id"]
    assert first["reasons"]["query_id"] is None


def test_pages_are_slices_of_one_ranking(client):
    whole = ids(ask(client, id=nct(3), k=N, reasons=False))
    assert nct(3) not in whole
    assert len(whole) == N - 1
    pages = [ask(client, id=nct(3), k=10, offset=n, reasons=False) for n in (0, 10, 20)]
    assert sum(map(ids, pages), []) == whole
    assert [hit["rank"] for hit in pages[1]["hits"]] == list(range(11, 21))
    assert ids(ask(client, id=nct(3), k=10, offset=500)) == []


def test_parts_weights_like_and_unlike_make_one_query(client, index, toy_nlp):
    answer = ask(
        client,
        parts={"condition": {"text": "gout", "weight": 2}, "title": {"text": " "}},
        like=[nct(2)],
        unlike=[nct(3)],
        k=5,
    )
    query = Composed(
        parts={"condition": "gout"},
        weights={"condition": 2},
        like=[nct(2)],
        unlike=[nct(3)],
    )
    hits = index.search(query, 5, nlp=toy_nlp)
    assert ids(answer) == [hit.nct_id for hit in hits]
    assert answer["query"]["parts"] == ["condition", "title"]
    assert not {nct(2), nct(3)} & set(ids(answer))


def test_a_part_of_weight_nought_does_not_count(client):
    parts = {
        "condition": {"text": "gout"},
        "intervention": {"text": "drug1", "weight": 0},
    }
    only = ask(client, parts={"condition": {"text": "gout"}}, k=5)
    assert ids(ask(client, parts=parts, k=5)) == ids(only)


def test_words_and_concepts_count_too_if_asked(client, index, toy_nlp):
    answer = ask(client, text="drug5 in sepsis", k=5, hybrid=True)
    hits = index.search("drug5 in sepsis", 5, nlp=toy_nlp, hybrid=True)
    assert ids(answer) == [hit.nct_id for hit in hits]
    assert [hit["ranks"] for hit in answer["hits"]] == [hit.ranks for hit in hits]
    assert "words" in answer["hits"][0]["ranks"]


def test_a_trial_without_a_cosine_has_no_score(client):
    """Section by section, of trials that are found by their words."""
    asked = {"parts": {"intervention": {"text": "drug5"}}, "text": "sepsis summary"}
    answer = ask(client, **asked, k=N, hybrid=True, against="section")
    assert all(
        hit["score"] is None or -1 <= hit["score"] <= 1 for hit in answer["hits"]
    )


def test_words_of_a_request_are_forgotten(client, toy_nlp):
    ask(client, text="gout", k=1)
    before = len(toy_nlp.vocab.strings)
    for n in range(3):
        ask(client, text=f"gout{n}x asthma{n}y", k=2)
        ask(client, parts={"title": {"text": f"sepsis{n}z"}}, k=2)
    assert len(toy_nlp.vocab.strings) == before


def test_filters_and_what_they_leave_out(client):
    filters = {"phases": "1", "statuses": ["Completed"], "country": ["france"]}
    answer = ask(client, text="gout", k=N, filters=filters)
    # Even numbers are of phase 1 and in France, multiples of 3 completed.
    assert sorted(ids(answer)) == [nct(n) for n in range(0, N - 1, 6)]
    assert answer["total"] == 5
    assert answer["notes"][0] == "1 trial left out because its phase is unknown"
    none = ask(client, text="gout", filters={"phases": ["4"]})
    assert (none["hits"], none["total"]) == ([], 0)
    assert "None of 30 trials passes phases" in " ".join(none["notes"])


def test_a_simple_search_fits_an_address(client):
    asked = {"text": "gout", "k": 3, "phases": ["1", "4"], "age": "50"}
    answer = client.get("/api/v1/search", params=asked).json()
    same = ask(client, text="gout", k=3, filters={"phases": ["1", "4"], "age": 50})
    assert answer == same
    assert client.get("/api/v1/search", params={"id": nct(1)}).json()["hits"]


def test_a_record_in_short_and_whole(client, index):
    answer = client.get(f"/api/v1/records/{nct(4).lower()}").json()
    assert answer["nct_id"] == nct(4)
    assert answer["criteria"] == {"inclusion": ["Adults"], "exclusion": ["Pregnancy"], "unspecified": []}  # fmt: skip
    assert answer["countries"] == ["France"]
    assert "locations" not in answer
    whole = client.get(f"/api/v1/records/{nct(4)}?whole=true").json()
    record = index[nct(4)].to_dict()
    assert {name: whole[name] for name in record} == record


def test_two_to_five_are_compared(client):
    answer = ask(client, "compare", ids=[nct(1), nct(7), nct(2)])
    assert answer["ids"] == [nct(1), nct(7), nct(2)]
    assert len(answer["reasons"]) == 2
    assert answer["cards"][nct(7)]["conditions"] == ["gout"]


def test_facets_count_each_value(client):
    found = client.get("/api/v1/facets").json()
    filters = found["filters"]
    assert found["total"] == N
    assert {row["value"]: row["count"] for row in filters["phases"]} == {"PHASE1": 15, "PHASE2": 14, "PHASE3": 14}  # fmt: skip
    assert filters["country"] == [
        {"value": "France", "label": "France", "count": 15},
        {"value": "Peru", "label": "Peru", "count": 14},
    ]
    assert filters["recruiting"] == [
        {"value": False, "label": "No", "count": 19},
        {"value": True, "label": "Yes", "count": 10},
    ]
    assert filters["sponsor_class"] == []
    assert found["years"] == [[2010, 6], [2011, 6], [2012, 6], [2013, 6], [2014, 5]]
    assert found["concepts"] is False


def test_health_says_what_is_served(client):
    answer = client.get("/api/v1/health").json()
    assert answer["index"]["n_items"] == N
    assert answer["index"]["name"] == "my trials"
    assert answer["index"]["started"] == [2010, 2014]
    assert answer["can"] == {"text": True, "risk": False, "hybrid": True}
    assert "/" not in json.dumps(answer)


@pytest.mark.parametrize("format", ["csv", "json", "ris"])
def test_results_are_saved_as_a_file(client, format):
    answer = client.post(
        "/api/v1/export", json={"text": "gout", "k": 3, "format": format}
    )
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="trials.{format}"'  # fmt: skip
    wanted = ids(ask(client, text="gout", k=3))
    assert all(nct_id in answer.text for nct_id in wanted)
    if format == "csv":
        assert len(list(csv.reader(io.StringIO(answer.text)))) == 4
    if format == "json":
        assert [row["nct_id"] for row in answer.json()] == wanted


def test_all_results_are_saved(client):
    filters = {"country": ["Peru"]}
    asked = {"id": nct(1), "filters": filters, "k": 10_000, "format": "json"}
    answer = client.post("/api/v1/export", json=asked)
    assert answer.status_code == 200
    passing = [nct(n) for n in range(3, N - 1, 2)]  # not the query itself
    assert sorted(row["nct_id"] for row in answer.json()) == passing
    assert [row["rank"] for row in answer.json()] == list(range(1, len(passing) + 1))
    more = client.post("/api/v1/export", json={**asked, "k": 10_001})
    assert more.status_code == 422


def test_markup_in_a_record_stays_text(client):
    answer = client.get(f"/api/v1/records/{nct(N - 1)}")
    assert answer.json()["title"] == f"{HOSTILE} of anaemia"
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_page_is_whole_and_loads_only_its_own(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for name in ("style.css", "views.css", "app.js", "map.js", "icon.svg"):
        answer = client.get(f"/{name}")
        assert answer.status_code == 200
        assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in answer.text
        assert "innerHTML" not in answer.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "access-control-allow-origin" not in page.headers
    assert not [word for word in ("<style", "onclick", "style=") if word in page.text]


def test_the_api_describes_itself(client):
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    assert set(paths) == {
        f"/api/v1/{name}"
        for name in ("search", "export", "compare", "risk", "records/{nct_id}", "facets", "map", "health")
    }  # fmt: skip
    assert client.get("/docs").status_code == 404
