"""Downloads from a server on this machine that misbehaves."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.readers import read_trials
from t2v_spacy.readers.download import IdList, download_studies, read_ids

NUMBER = 25
IDS = [f"NCT9600{i:04}" for i in range(NUMBER)]


class Registry(ThreadingHTTPServer):
    """Serves NUMBER studies; `faults` are used up one a request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults: list[str] = []
        self.asked: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/studies"


class Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        query = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
        self.server.asked.append(query)
        fault = self.server.faults.pop(0) if self.server.faults else ""
        body = json.dumps(page(query), ensure_ascii=False).encode()
        if fault.isdigit():
            self.send_response(int(fault))
            if fault == "429":
                self.send_header("Retry-After", "7")
            body = b"try another parameter"
        else:
            self.send_response(200)
        if fault == "half page":
            body = body[: len(body) // 2]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        # A cut connection sends less than it promised.
        self.wfile.write(body[:10] if fault == "cut" else body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def page(query: dict[str, str]) -> dict[str, Any]:
    size = int(query["pageSize"])
    if "filter.ids" in query:
        asked = query["filter.ids"].split(",")
        return {"studies": [study(nct_id) for nct_id in asked if nct_id in IDS]}
    start = int(query.get("pageToken", "t0")[1:])
    answer: dict[str, Any] = {"studies": [study(i) for i in IDS[start : start + size]]}
    if start + size < NUMBER:
        answer["nextPageToken"] = f"t{start + size}"
    if "countTotal" in query:
        answer["totalCount"] = NUMBER
    return answer


def study(nct_id: str) -> dict[str, Any]:
    identity = {"nctId": nct_id, "briefTitle": "Café"}
    return {"protocolSection": {"identificationModule": identity}}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def registry() -> Iterator[Registry]:
    server = Registry()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def waits() -> list[float]:
    return []


def download(registry: Registry, out: Path, waits: list[float], **settings: Any) -> int:
    usual = {"page_size": 10, "delay": 0.25, "query": {"query.cond": "x y"}}
    settings = {**usual, **settings}
    return download_studies(out, url=registry.url, sleep=waits.append, **settings)


def names(path: Path) -> list[str]:
    return sorted(p.name for p in path.iterdir())


def test_all_pages(registry, tmp_path, waits):
    out = tmp_path / "trials.jsonl"
    assert download(registry, out, waits) == NUMBER
    trials = list(read_trials(out))
    assert [trial.nct_id for trial in trials] == IDS
    assert trials[0].title == "Café"
    assert waits == [0.25, 0.25]
    assert [asked.get("pageToken") for asked in registry.asked] == [None, "t10", "t20"]
    assert all(asked["query.cond"] == "x y" for asked in registry.asked)
    assert names(tmp_path) == ["trials.jsonl", "trials.jsonl.meta.json"]
    meta = json.loads((tmp_path / "trials.jsonl.meta.json").read_text())
    assert (meta["count"], meta["query"]) == (NUMBER, {"query.cond": "x y"})
    assert len(meta["snapshot"]) == len("2020-01-01")


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        (["429"], [7.0]),
        (["500", "503"], [1.0, 2.0]),
        (["cut"], [1.0]),
        (["half page"], [1.0]),
        (["429", "cut", "half page", "502"], [7.0, 2.0, 4.0, 8.0]),
    ],
)
def test_faults_are_waited_out(registry, tmp_path, waits, faults, expected):
    registry.faults = ["", *faults]
    out = tmp_path / "trials.jsonl"
    assert download(registry, out, waits, delay=0) == NUMBER
    assert [trial.nct_id for trial in read_trials(out)] == IDS
    assert [wait for wait in waits if wait] == expected


@pytest.mark.parametrize("half", [b"", b'{"protocolSection": {"identif'])
def test_an_interrupted_run_goes_on_where_it_stopped(registry, tmp_path, waits, half):
    whole, out = tmp_path / "whole.jsonl", tmp_path / "trials.jsonl"
    download(registry, whole, waits)
    registry.faults = ["", "", "500", "500"]
    with pytest.raises(T2VError, match=r"\[T060\].*500.*run the same command again"):
        download(registry, out, waits, retries=1)
    assert not out.exists()
    with (tmp_path / "trials.jsonl.part").open("ab") as file:
        file.write(half)
    registry.asked.clear()
    assert download(registry, out, waits) == NUMBER
    assert [asked["pageToken"] for asked in registry.asked] == ["t20"]
    assert out.read_bytes() == whole.read_bytes()
    assert "trials.jsonl.part" not in names(tmp_path)
    assert "trials.jsonl.state.json" not in names(tmp_path)


def test_a_failed_run_leaves_an_older_file(registry, tmp_path, waits):
    out = tmp_path / "trials.jsonl"
    out.write_text("old")
    registry.faults = ["500"]
    with pytest.raises(T2VError, match=r"\[T060\]"):
        download(registry, out, waits, retries=0)
    assert out.read_text() == "old"
    assert waits == []


def test_a_state_of_another_query_is_refused(registry, tmp_path, waits):
    out = tmp_path / "trials.jsonl"
    registry.faults = ["", "500"]
    with pytest.raises(T2VError, match="T060"):
        download(registry, out, waits, retries=0)
    with pytest.raises(T2VError, match=r"\[T061\].*another query"):
        download(registry, out, waits, query={"query.cond": "other"})
    (tmp_path / "trials.jsonl.part").write_bytes(b"")
    with pytest.raises(T2VError, match=r"\[T061\].*cut since"):
        download(registry, out, waits)
    (tmp_path / "trials.jsonl.state.json").write_text("{")
    with pytest.raises(T2VError, match=r"\[T061\].*damaged"):
        download(registry, out, waits)


def test_a_wrong_query_is_not_tried_again(registry, tmp_path, waits):
    registry.faults = ["400"]
    with pytest.raises(T2VError, match=r"\[T060\].*400.*try another parameter.*query"):
        download(registry, tmp_path / "trials.jsonl", waits)
    assert len(registry.asked) == 1


def test_nobody_answers(tmp_path, waits):
    server = Registry()
    url = server.url
    server.server_close()
    out = tmp_path / "trials.jsonl"
    with pytest.raises(T2VError, match=r"\[T060\].*Check the network connection"):
        download_studies(out, url=url, retries=3, delay=0, sleep=waits.append)
    assert waits == [1.0, 2.0, 4.0]
    assert names(tmp_path) == []


def test_a_list_of_ids(registry, tmp_path, waits):
    out = tmp_path / "trials.jsonl"
    ids = [*IDS[:12], "NCT96999999"]
    assert download(registry, out, waits, ids=ids, query=None) == 12
    assert [trial.nct_id for trial in read_trials(out)] == IDS[:12]
    meta = json.loads((tmp_path / "trials.jsonl.meta.json").read_text())
    assert meta["missing"] == ["NCT96999999"]
    assert len(registry.asked) == 2
    with pytest.raises(T2VError, match=r"\[T006\]"):
        download(registry, out, waits, ids=[])


def test_a_limit(registry, tmp_path, waits):
    out = tmp_path / "trials.jsonl"
    assert download(registry, out, waits, limit=13) == 13
    assert [trial.nct_id for trial in read_trials(out)] == IDS[:13]
    assert len(registry.asked) == 2


def test_unwritable(registry, tmp_path, waits):
    with pytest.raises(T2VError, match=r"\[T010\]"):
        download(registry, tmp_path / "none" / "trials.jsonl", waits)


def test_read_ids(tmp_path):
    path = tmp_path / "ids.txt"
    lines = ["\ufeffNCT96000001\r", " nct96000002", "", "ISRCTN90000009", "NCT96000001"]
    path.write_text("\n".join([*lines, "N/A", ""]), encoding="utf-8")
    assert read_ids(path) == IdList(
        valid=("NCT96000001", "NCT96000002"),
        other_registry=("ISRCTN90000009",),
        invalid=("N/A",),
        duplicates_removed=1,
    )
    with pytest.raises(T2VError, match=r"\[T001\]"):
        read_ids(tmp_path / "none.txt")


def test_case_ids(t2v_data):
    folder = t2v_data / "cases"
    cases = json.loads((folder / "c11.expected.json").read_text("utf-8"))
    expected = cases["c11_ids.txt"]
    found = read_ids(folder / "c11_ids.txt")
    assert list(found.valid) == expected["valid"]
    assert list(found.other_registry) == expected["other_registry"]
    assert list(found.invalid) == expected["invalid"]
    assert found.duplicates_removed == expected["duplicates_removed"]
