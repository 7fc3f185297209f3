"""The page in a real browser, without a network but to the server on this machine."""

from __future__ import annotations

import json
import os
import shutil
from urllib.parse import parse_qs, urlsplit

import pytest

from t2v_spacy.serve.answers import Models
from t2v_spacy.serve.library import Library

from .conftest import HOSTILE, N, nct, running

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
if not (BROWSER and DRIVER):
    pytest.skip("chromium and chromedriver are not installed", allow_module_level=True)
pytest.importorskip("selenium", reason="selenium is not installed")

from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)
SECONDS = 60


class Page:
    """A browser with what the tests look for."""

    def __init__(self, driver, address: str) -> None:
        self.driver = driver
        self.address = address

    def open(self, path: str = "/") -> None:
        self.driver.get(self.address + path)
        self.wait(lambda: f"{N} trials" in self.text("#about"))
        self.wait(lambda: self.text("#said") or not self.one("#said").is_displayed())

    def wait(self, condition):
        return WebDriverWait(self.driver, SECONDS).until(lambda _: condition())

    def all(self, selector: str):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.one(selector).text

    def click(self, selector: str, at: int = 0) -> None:
        found = self.wait(lambda: self.all(selector)[at:])[0]
        self.script("arguments[0].scrollIntoView({block: 'center'})", found)
        found.click()

    def script(self, code: str, *args):
        return self.driver.execute_script(code, *args)

    def keys(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def search(self, text: str) -> None:
        self.one("#text").clear()
        self.one("#text").send_keys(text)
        self.one("#form button.main").click()
        self.settled()

    def settled(self) -> None:
        """Results with their reasons are on the screen."""
        self.wait(
            lambda: (
                "of" in self.text("#said")
                and not self.one("#results").get_attribute("aria-busy")
            )
        )

    def ids(self) -> list[str]:
        return self.script("return [...document.querySelectorAll('.pick')].map((box) => box.value)")  # fmt: skip

    def asked(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.driver.current_url).query)

    def errors(self) -> list[str]:
        return [row["message"] for row in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def address(served_index, toy_nlp):
    with running(Library(served_index), Models(toy_nlp)) as address:
        yield address


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    os.environ.setdefault("SE_OFFLINE", "true")
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(driver, address):
    page = Page(driver, address)
    page.errors()  # of the tests before
    page.open()
    return page


def test_a_search_and_its_pages(page):
    assert "Nothing asked yet" in page.text("#said")
    page.search("gout and drug3")
    assert page.text("#said").startswith(f"1–10 of {N} trials")
    first = page.ids()
    assert len(first) == 10
    assert "score" in page.one("#hits .card-head span").get_attribute("class")
    assert page.all("#hits .bar")
    page.click("#pages button:last-child")
    page.wait(lambda: page.text("#said").startswith("11–20"))
    assert not set(first) & set(page.ids())
    page.driver.back()
    page.wait(lambda: page.ids() == first)
    assert page.one("#text").get_attribute("value") == "gout and drug3"
    assert page.errors() == []


def test_a_filter_narrows_and_can_be_taken_back(page):
    page.search("gout")
    page.click("#f-phases-PHASE1")
    page.wait(lambda: "of 15 trials" in page.text("#said"))
    Select(page.one("#f-country")).select_by_value("Peru")
    page.wait(lambda: "No trial" in page.text("#said"))
    assert "none of the 15 that pass" in page.text("#notes")
    assert page.asked()["f.country"] == ["Peru"]
    page.click("#clear-filters")
    page.wait(lambda: f"of {N} trials" in page.text("#said"))
    page.driver.back()
    page.wait(lambda: "No trial" in page.text("#said"))
    assert page.one("#f-phases-PHASE1").is_selected()


def test_parts_with_weights_are_in_the_address(page):
    page.click("#parts summary")
    page.one("#p-condition").send_keys("migraine")
    page.script("const w = document.getElementById('w-condition'); w.value = 2; w.dispatchEvent(new Event('input'));")  # fmt: skip
    page.click("#form button.main")
    page.settled()
    assert page.asked()["p.condition"] == ["migraine"]
    assert page.asked()["w.condition"] == ["2"]
    page.driver.refresh()
    page.settled()
    assert page.one("#p-condition").get_attribute("value") == "migraine"


def test_a_long_draft_is_kept_by_the_tab(page):
    draft = "A study of gout. " * 200
    page.script("document.getElementById('text').value = arguments[0]", draft)
    page.click("#form button.main")
    page.settled()
    assert page.asked() == {"draft": ["1"]}
    page.driver.refresh()
    page.settled()
    assert page.one("#text").get_attribute("value") == draft


def test_a_record_opens_and_leads_to_those_like_it(page):
    page.search("gout")
    first = page.ids()[0]
    page.click("#hits .title")
    page.wait(lambda: page.all("#record dl"))
    assert first in page.text("#record .facts")
    assert "Pregnancy" in page.text("#record")
    assert page.asked()["open"] == [first]
    page.click("#record .actions .main")
    page.wait(lambda: page.asked().get("id") == [first])
    page.settled()
    assert first not in page.ids()
    assert f"Like {first}" in page.text("#anchors")
    page.click("#hits .actions button", 2)  # add as unlike
    page.wait(lambda: "unlike" in page.asked())
    page.settled()
    assert page.asked()["unlike"][0] not in page.ids()


def test_records_are_compared_side_by_side(page):
    page.search("gout")
    chosen = page.ids()[:3]
    for at in range(3):
        page.click("#hits .pick", at)
    page.wait(lambda: page.text("#compare") == "Compare 3")
    page.click("#compare")
    page.wait(lambda: page.all("#comparison .compare"))
    assert [cell.text for cell in page.all("#comparison thead .id")] == chosen
    page.keys(Keys.ESCAPE)
    page.wait(lambda: not page.one("#comparison").is_displayed())
    assert page.asked()["pick"] == chosen
    assert page.errors() == []


def test_the_keyboard_alone(page):
    """From the box to a record and back, and the skip link first of all."""
    page.wait(lambda: page.driver.switch_to.active_element == page.one("#text"))
    page.keys("gout", Keys.CONTROL, Keys.ENTER, Keys.NULL)
    page.settled()
    page.script("document.activeElement.blur()")
    page.one("body").send_keys("/")
    assert page.driver.switch_to.active_element == page.one("#text")
    page.script("document.querySelector('.skip').focus()")
    assert page.one(".skip").is_displayed()
    page.keys(Keys.ENTER)
    page.wait(lambda: page.driver.switch_to.active_element == page.one("#results"))
    page.keys(Keys.ARROW_DOWN)
    page.keys(Keys.ARROW_DOWN)
    titles = page.all("#hits .title")
    assert page.driver.switch_to.active_element == titles[1]
    page.keys(Keys.ARROW_UP)
    assert page.driver.switch_to.active_element == titles[0]
    page.keys(Keys.ARROW_DOWN)
    page.keys(Keys.ENTER)
    page.wait(lambda: page.all("#record dl"))
    assert page.script("return document.activeElement.closest('dialog')?.id") == "record"  # fmt: skip
    page.keys(Keys.ESCAPE)
    page.wait(lambda: not page.one("#record").is_displayed())
    assert page.driver.switch_to.active_element == titles[1]
    assert "open" not in page.asked()


def test_everything_that_can_be_reached_has_a_name(page):
    page.search("gout")
    nameless = page.script(
        """return [...document.querySelectorAll("a, button, input, select, textarea")]
        .filter((node) => node.checkVisibility())
        .filter((node) => !(node.textContent.trim() || node.labels?.length || node.ariaLabel))
        .map((node) => node.outerHTML)"""
    )
    assert nameless == []
    assert page.script("return document.documentElement.lang") == "en"


@pytest.mark.parametrize("path", ["/?q=gout", "/?q=gout&open=" + nct(1), "/?q=gout&view=map", f"/?q=gout&compare=1&pick={nct(1)}&pick={nct(2)}"])  # fmt: skip
def test_a_small_screen_needs_no_sideways_scrolling(page, path):
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        page.open(path)
        page.wait(lambda: page.all("#hits .card, #record dl, .map canvas, .compare"))
        width = "return [document.documentElement.scrollWidth, innerWidth]"
        assert page.script(width) == [360, 360]
        for dialog in page.all("dialog[open]"):
            assert page.script("return arguments[0].scrollWidth <= arguments[0].clientWidth", dialog)  # fmt: skip
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_markup_in_a_record_is_shown_as_text(page):
    page.search("script document title owned onerror alert img src anaemia")
    shown = f"{HOSTILE} of anaemia"
    page.wait(lambda: shown in [title.text for title in page.all("#hits .title")])
    page.open(f"/?open={nct(N - 1)}")
    page.wait(lambda: page.text("#record-title") == shown)
    page.open(f"/?compare=1&pick={nct(N - 1)}&pick={nct(1)}")
    page.wait(lambda: page.all(".compare"))
    assert HOSTILE in page.text("#comparison")
    assert page.driver.title == "Trials that resemble one"
    assert page.all("img, #record script, #comparison script") == []
    assert page.errors() == []


def test_markup_in_an_address_is_shown_as_text(page):
    page.open("/?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E+gout&like=%3Cb%3Ex&f.nothing=1")
    page.wait(lambda: "error" in page.one("#said").get_attribute("class"))
    assert "Like <b>x" in page.text("#anchors")
    assert page.all("#anchors b, img") == []


def test_an_address_with_no_such_trial_says_so(page):
    page.open("/?open=NCT99999999")
    page.wait(lambda: "is not in this index" in page.text("#record"))
    page.keys(Keys.ESCAPE)
    page.open("/?id=NCT99999999")
    page.wait(lambda: "is not in this index" in page.text("#said"))
    assert page.all("#said button")


def test_the_map_is_drawn_and_opens_a_record(page):
    page.click("#to-map")
    page.wait(lambda: page.all("#legend li"))
    assert f"{N} trials" in page.text("#map-said")
    drawn = "const c = document.getElementById('canvas'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0)"  # fmt: skip
    assert page.script(drawn)
    first = page.text("#centre button")
    for _ in range(4):
        page.one("#canvas").send_keys("+")
    page.one("#canvas").send_keys(Keys.ARROW_LEFT)
    page.click("#zoom-all")
    page.wait(lambda: page.text("#centre button") == first)
    page.click("#centre button")
    page.wait(lambda: page.all("#record dl"))
    page.keys(Keys.ESCAPE)
    for box in page.all("#legend input"):
        box.click()
    page.wait(lambda: not page.script(drawn))
    page.driver.back()


def test_results_are_saved(page, tmp_path):
    page.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior",
        {"behavior": "allow", "downloadPath": str(tmp_path)},
    )
    page.search("gout")
    Select(page.one("#format")).select_by_value("json")
    page.click("#export")
    page.wait(lambda: (tmp_path / "trials.json").exists())
    rows = page.wait(lambda: (tmp_path / "trials.json").read_text())
    assert len(json.loads(rows)) == N


def test_a_server_that_has_gone_is_said(page):
    page.search("gout")
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/api/*"]})
    try:
        page.one("#text").send_keys(" and asthma")
        page.click("#form button.main")
        page.wait(lambda: "does not answer" in page.text("#said"))
    finally:
        page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    page.click("#said button")
    page.settled()
    assert page.ids()
