"""Bad input is refused in one shape, never with a fault of the program."""

from __future__ import annotations

import json
import threading

import pytest

from t2v_spacy.serve import answers
from t2v_spacy.serve.answers import Models
from t2v_spacy.serve.library import Library
from t2v_spacy.serve.limits import LOOPBACK, MAX_BODY, Hosts, Limits

from .conftest import PORT, make_client, nct


def refused(answer, status: int, code: str = "T185", field: str | None = None) -> str:
    """The message of an answer that must be an error."""
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "field"}
    assert error["code"] == code
    if field is not None:
        assert error["field"] == field
    return error["message"]


JSON = {"content-type": "application/json"}
BODIES = [
    (b"", 422),
    (b"nonsense", 400),
    (b'{"text": "\xff\xfe\xfa"}', 400),
    (b"[" * 100_000, 400),
    (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, 400),
    (b"[]", 422),
    (b"null", 422),
    (b"3", 422),
    (b'{"text": NaN}', 422),
    (b'{"k": ' + b"9" * 5000 + b"}", 400),
    (b'{"text": "gout", "k": 1e999}', 422),
    (b'{"text": "gout", "k": "ten"}', 422),
    (b'{"text": "gout", "k": 0}', 422),
    (b'{"text": "gout", "k": 101}', 422),
    (b'{"text": "gout", "offset": -1}', 422),
    (b'{"text": "gout", "offset": 991}', 422),
    (b'{"text": ["gout"]}', 422),
    (b'{"text": {"a": 1}}', 422),
    (b'{"text": "gout", "unknown": 1}', 422),
    (b'{"text": "gout", "against": "everything"}', 422),
    (b'{"text": "gout", "like": "NCT"}', 422),
    (b'{"text": "gout", "parts": {"no such": {"text": "a"}}}', 422),
    (b'{"text": "gout", "parts": {"title": {"text": "a", "weight": -1}}}', 422),
    (b'{"text": "gout", "parts": {"title": {"text": "a", "weight": NaN}}}', 422),
    (b'{"text": "gout", "parts": {"title": {"text": "a", "weight": 1e999}}}', 422),
    (b'{"text": "gout", "parts": []}', 422),
    (b'{"text": "gout", "filters": []}', 422),
    (b'{"text": "gout", "filters": {"nothing": 1}}', 422),
    (b'{"text": "gout", "filters": {"age": ' + b"9" * 400 + b"}}", 422),
    (b'{"text": "gout", "filters": {"age": [1, 2, 3]}}', 422),
    (b'{"text": "gout", "filters": {"age": {"a": 1}}}', 422),
    (b'{"text": "gout", "filters": {"age": -1e999}}', 422),
    (b'{"text": "gout", "filters": {"recruiting": "perhaps"}}', 422),
    (b'{"text": "gout", "filters": {"phases": [["1"]]}}', 422),
    (b'{"text": "gout", "filters": {"country": "' + b"a" * 300 + b'"}}', 422),
    (b'{"text": ""}', 422),
    (b'{"text": "gout", "id": "NCT90000001"}', 422),
    (b'{"unlike": ["NCT90000001"]}', 422),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status"), BODIES, ids=lambda value: str(value)[:40])
def test_a_bad_body_is_refused(client, body, status):
    refused(client.post("/api/v1/search", content=body, headers=JSON), status)


CODED = [
    ({"text": " .,; "}, 422, "T025", None),
    ({"text": "\0\1\2"}, 422, "T025", None),
    ({"id": "NCT99999999"}, 404, "T043", None),
    ({"text": "NCT99999999"}, 404, "T043", None),
    ({"id": "../../etc/passwd"}, 404, "T043", None),
    ({"id": "\ud800"}, 422, "T185", "id"),
    ({"like": [nct(1), "x' OR 1=1 --"]}, 404, "T043", None),
    ({"text": "a", "filters": {"phases": ["9"]}}, 422, "T160", "filters.phases"),
    ({"text": "a", "filters": {"age": "8-"}}, 422, "T160", "filters.age"),
    ({"text": "a", "filters": {"started_after": "soon"}}, 422, "T160", "filters.started_after"),
    ({"text": "a", "filters": {"started_after": 2012, "started_before": 2010}}, 422, "T160", "filters"),
    ({"text": "a", "filters": {"condition_concept": "MESH:1"}}, 422, "T161", None),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "code", "field"), CODED)
def test_what_the_package_refuses_keeps_its_code(client, body, status, code, field):
    answer = client.post("/api/v1/search", content=json.dumps(body), headers=JSON)
    message = refused(answer, status, code, field)
    assert not message.startswith("[")


TEXTS = [
    "gout \ud800 \udfff",
    "gout \x00\x01\x02\x7f\x1b[31m",
    "gout\u202e\u200b\ufeff\u2028",
    "<script>alert(1)</script> gout",
    "g\u0301\u0302\u0303" * 500,
    "Title: " * 500,
    "- " * 2000 + "gout",
    "a" * 199_000,
    "😀" * 4000 + " gout",
    "%00%0a../../etc/passwd gout; DROP TABLE trial",
    "Inclusion Criteria:\n" + "- adult\n" * 100,
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:20]))
def test_odd_texts_are_searched_with(client, text):
    body = json.dumps({"text": text, "k": 2})
    answer = client.post("/api/v1/search", content=body, headers=JSON)
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["hits"]) == 2


def test_a_text_of_more_than_200_kb_is_refused(client):
    for body in (
        {"text": "gout " * 40_001},
        {"text": "é" * 100_001},
        {"parts": {n: {"text": "a" * 150_000} for n in ("title", "condition")}},
    ):
        message = refused(client.post("/api/v1/search", json=body), 422)
        assert "200,000 bytes" in message


PATHS = [
    "records/..%2f..%2fetc%2fpasswd",
    "records/%00",
    "records/%09Set-Cookie:a",
    "records/%ff%fe",
    "records/NCT90000001%00",
    "records/%F0%9F%98%80",
    f"records/{'a' * 3000}",
    "records/",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_strange_id_is_not_found(client, path):
    answer = client.get(f"/api/v1/{path}")
    refused(answer, 404, "T043")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/records/%0d%0aSet-Cookie:a", 404),
        ("GET", "/page/index.html", 404),
        ("GET", "/..%2fapp.py", 404),
        ("GET", "/%2e%2e/app.py", 404),
        ("GET", "/app.py", 404),
        ("DELETE", "/api/v1/search", 405),
        ("PUT", "/api/v1/health", 405),
        ("GET", "/api/v1/compare", 405),
        ("GET", "/api/v1/search?k=a", 422),
        ("GET", "/api/v1/search?text=gout&no=1", 422),
        ("GET", f"/api/v1/records/{nct(1)}?whole=maybe", 422),
        ("GET", "/api/v1/search?text=%ff%fe&k=1000", 422),
    ],
)
def test_addresses_and_methods(client, method, path, status):
    refused(client.request(method, path), status)


@pytest.mark.parametrize(
    ("ids", "status", "code"),
    [
        ([nct(1)], 422, "T185"),
        ([nct(n) for n in range(6)], 422, "T185"),
        ([nct(1), nct(1).lower()], 422, "T185"),
        ([nct(1), "NCT99999999"], 404, "T043"),
        ([nct(1), None], 422, "T185"),
    ],
)
def test_what_cannot_be_compared(client, ids, status, code):
    refused(client.post("/api/v1/compare", json={"ids": ids}), status, code)


def test_no_risk_without_a_model(client):
    message = refused(client.post("/api/v1/risk", json={"id": nct(1)}), 404)
    assert "--termination" in message


# before the application


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1:{PORT}.evil.example", "", f"localhost@evil:{PORT}"])  # fmt: skip
def test_another_name_of_the_server_is_refused(client, host):
    for path in ("/", "/api/v1/health"):
        message = refused(client.get(path, headers={"host": host}), 421, field="Host")
        assert "--allow-host" in message


def test_names_that_the_server_answers_to():
    hosts = Hosts((*LOOPBACK, "Trials.example"), 8000)
    names = ("localhost:8000", "LOCALHOST:8000", "[::1]:8000", "trials.example:8000")
    assert all(name in hosts for name in names)
    assert "10.0.0.1:8000" not in hosts
    assert "10.0.0.1:8000" in Hosts((), 8000, any_address=True)
    assert "[fe80::1]:8000" in Hosts((), 8000, any_address=True)
    assert "a.example:8000" not in Hosts((), 8000, any_address=True)
    assert "localhost" in Hosts(LOOPBACK, 80)
    assert None not in hosts


def test_other_sites_may_link_to_the_page_and_read_nothing(client):
    searched = "/api/v1/search?text=gout"
    paths = ("/api/v1/health", searched, f"/api/v1/records/{nct(1)}", "/app.js")
    for site in ("cross-site", "same-site", "unheard-of"):
        link = {
            "sec-fetch-site": site,
            "sec-fetch-mode": "navigate",
            "sec-fetch-dest": "document",
        }
        assert client.get("/?q=gout", headers=link).status_code == 200
        for headers in (link, {**link, "sec-fetch-dest": "empty"}):
            for path in paths:
                message = refused(client.get(path, headers=headers), 403, field="Sec-Fetch-Site")  # fmt: skip
                assert "another site" in message
        refused(client.get("/", headers={**link, "sec-fetch-dest": "iframe"}), 403)
        body = {"text": "gout"}
        answer = client.post("/api/v1/search", json=body, headers={"sec-fetch-site": site})  # fmt: skip
        refused(answer, 403)
    for own in ({"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
        assert all(client.get(path, headers=own).status_code == 200 for path in paths)
        assert client.post("/api/v1/search", json=body, headers=own).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])  # fmt: skip
def test_only_json_is_read(client, kind):
    answer = client.post(
        "/api/v1/search", content=b'{"text": "gout"}', headers={"content-type": kind}
    )
    refused(answer, 415)


def test_a_body_that_says_it_is_too_large_is_not_read(client):
    def never():
        raise AssertionError("it was read")
        yield b""

    headers = {**JSON, "content-length": str(MAX_BODY + 1)}
    refused(client.post("/api/v1/search", content=never(), headers=headers), 413)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_body_in_chunks_is_read_to_the_limit_only(client, anyio_backend):
    taken, sent = [], []

    async def receive():
        taken.append(100_000)
        return {"type": "http.request", "body": b"a" * 100_000, "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/search",
        "headers": [(b"host", f"localhost:{PORT}".encode()), (b"content-type", b"application/json")],
    }  # fmt: skip
    await client.app(scope, receive, send)
    assert sent[0]["status"] == 413
    assert sum(taken) <= MAX_BODY + 100_000
    assert (b"connection", b"close") in sent[0]["headers"]


def test_every_answer_bears_the_headers(client):
    asked = [
        client.get("/"),
        client.get("/api/v1/health"),
        client.get("/none"),
        client.post("/api/v1/search", content=b"x" * (MAX_BODY + 1), headers=JSON),
        client.get("/", headers={"host": "evil.example"}),
    ]
    for answer in asked:
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not [
            name for name in answer.headers if name.startswith("access-control")
        ]


# time and numbers


@pytest.fixture
def held(monkeypatch):
    """Searches wait until the event is set."""
    go, started = threading.Event(), threading.Event()

    def wait(*_):
        started.set()
        go.wait()
        return {"hits": []}

    monkeypatch.setattr(answers, "search", wait)
    yield go, started
    go.set()


def test_a_request_that_takes_too_long(served_index, toy_nlp, held):
    limits = Limits(seconds=0.05)
    with make_client(Library(served_index), Models(toy_nlp), limits) as client:
        message = refused(client.post("/api/v1/search", json={"text": "gout"}), 503, "T186")  # fmt: skip
        assert "0.05 seconds" in message
        assert "--seconds" in message
        assert client.get("/api/v1/health").status_code == 200
        held[0].set()


def test_too_many_requests_wait(served_index, toy_nlp, held):
    go, started = held
    with make_client(
        Library(served_index), Models(toy_nlp), Limits(waiting=1)
    ) as client:
        done = []

        def search():
            done.append(client.post("/api/v1/search", json={"text": "gout"}))

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        started.wait()
        while not done:  # one is served, one waits, one is refused
            threads[0].join(0.01)
        message = refused(done[0], 503, "T186")
        assert "--waiting" in message
        assert done[0].headers["retry-after"] == "5"
        go.set()
        for thread in threads:
            thread.join()
        assert sorted(answer.status_code for answer in done) == [200, 200, 503]


def test_a_fault_of_the_program_has_the_same_shape(served_index, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr(answers, "record", fail)
    with make_client(Library(served_index), Models()) as client:
        answer = client.get(f"/api/v1/records/{nct(1)}")
        assert "secret" not in refused(answer, 500)
        assert "content-security-policy" in answer.headers


def test_without_a_model_only_ids_are_searched_with(served_index):
    with make_client(Library(served_index), Models()) as client:
        assert client.post("/api/v1/search", json={"id": nct(1)}).status_code == 200
        answer = client.post("/api/v1/search", json={"text": "gout"})
        refused(answer, 422, "T024")


def test_a_text_of_very_many_ids_is_refused(client):
    text = ", ".join(nct(i) for i in range(30))
    answer = client.post("/api/v1/search", json={"text": text})
    assert "ids" in refused(answer, 422, field="text")
