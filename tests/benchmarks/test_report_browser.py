"""The report as a reader sees it: the page of a small run in headless Chromium."""

import json
import re
import time

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("plotly")
pytest.importorskip("selenium")

from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.wait import WebDriverWait

from benchmarks.__main__ import main
from tests.benchmarks.conftest import SIZES, write_jsonl
from tests.browser import fetched, luminance, open_page, start_chromium
from tests.tiny import topical_texts

ODD = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"quoted" & more',
    "🙂 &lt;b&gt;",
)
STRATEGY = """
import numpy as np

def last(learner, X_pool, n_instances=1):
    return np.arange(len(X_pool))[-n_instances:]
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory, tiny_roberta, encodings):
    """report.html of a run with odd texts, classes and names."""
    root = tmp_path_factory.mktemp("browser")
    folder = root / "topics"
    folder.mkdir()
    for seed, (part, size) in enumerate(SIZES.items()):
        texts, labels = topical_texts(size, seed=seed)
        texts = [f"{ODD[i % len(ODD)]} {text}" for i, text in enumerate(texts)]
        write_jsonl(folder / f"{part}.jsonl", texts, [f"<i>{label}</i> &" for label in labels])
    odd = root / "a <b> & $x_1$ 'q'.py"
    odd.write_text(STRATEGY, encoding="utf-8")
    command = ["run", "--out", str(root / "out"), "--dataset", str(folder), "--strategy"]
    command += ["real", "real-pool", "random", "margin", "full", f"{odd}:last", "--seeds", "3"]
    command += ["--encoder", str(tiny_roberta), "--cache", str(encodings), "--warm-up", "10"]
    command += ["--batch-size", "12", "--rounds", "3", "--jobs", "1", "--divergence"]
    assert main(command) == 0
    assert main(["report", str(root / "out")]) == 0
    return root / "out" / "report.html"


@pytest.fixture(scope="module")
def chromium():
    yield from start_chromium()


@pytest.fixture
def show(chromium, page):
    """Opens the page at a width, in light or dark."""

    def show(width=1200, scheme="light"):
        return open_page(chromium, page, width, scheme)

    return show


def test_nothing_is_logged_fetched_or_asked(show, page):
    browser = show()
    time.sleep(0.5)
    assert browser.get_log("browser") == []
    urls = fetched(browser)
    assert page.as_uri() in urls
    assert [url for url in urls if url != page.as_uri() and not url.startswith("data:")] == []
    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert.text


def test_every_figure_is_there_and_has_a_caption(show):
    figures = show().execute_script("""
        return [...document.querySelectorAll("figure:not(.table)")].map((figure) => {
          const picture = figure.querySelector("svg, img")?.getBoundingClientRect();
          const caption = figure.querySelector("figcaption")?.innerText.trim();
          return {width: picture?.width ?? 0, height: picture?.height ?? 0,
                  caption: caption ?? ""};
        })""")
    assert len(figures) >= 4
    for figure in figures:
        assert figure["width"] > 100, figure
        assert figure["height"] > 50, figure
        assert len(figure["caption"]) > 20, figure


@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_is_not_wider_than_the_window(show, width):
    browser = show(width)
    wider = browser.execute_script("""
        const room = document.documentElement.clientWidth;
        return [...document.querySelectorAll("body *")].filter((element) =>
          element.getBoundingClientRect().right > room + 1 && !element.closest(".wide, svg"))
          .map((element) => element.outerHTML.slice(0, 120))""")
    scroll, window = browser.execute_script(
        "return [document.scrollingElement.scrollWidth, innerWidth]"
    )
    assert window == width
    assert scroll <= width, wider
    assert wider == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_page(show, scheme):
    browser = show(scheme=scheme)
    page, *inks = browser.execute_script("""
        const style = (e) => getComputedStyle(e);
        return [style(document.body).backgroundColor,
          ...[...document.querySelectorAll("p, td, th, a, figcaption, caption, label")]
            .filter((e) => e.innerText.trim()).map((e) => style(e).color),
          ...[...document.querySelectorAll("figure svg text")].map((e) => style(e).fill)]""")
    assert len(inks) > 100
    assert (luminance(page) < 0.1) == (scheme == "dark")
    for ink in set(inks):
        low, high = sorted([luminance(page), luminance(ink)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, ink


def given_to_the_map(page):
    """What the script of the page's map draws."""
    given = re.search(
        r"drawPoolMap\(document\S+ (.*)\)</script>", page.read_text(encoding="utf-8")
    )
    return json.loads(given[1])


def point_at_a_pick(browser, number):
    """Move the mouse away, then over a pick of the first strategy."""
    browser.execute_script("document.querySelector('.pool-map').scrollIntoView()")
    x, y = browser.execute_script(
        """
        const chart = document.querySelector(".pool-map-chart");
        const {xaxis, yaxis} = chart._fullLayout, trace = chart.data[2];
        const corner = chart.getBoundingClientRect(), i = arguments[0];
        return [corner.left + xaxis.l2p(trace.x[i]), corner.top + yaxis.l2p(trace.y[i])]""",
        number,
    )
    for place in ((2, 2), (round(x), round(y))):
        actions = ActionChains(browser)
        actions.w3c_actions.pointer_action.move_to_location(*place)
        actions.perform()


@pytest.mark.parametrize("width", [390, 1200])
def test_pointing_at_a_pick_shows_its_text_as_text(show, page, width):
    browser = show(width)
    given = given_to_the_map(page)
    real = given["strategies"][0]
    for number, row in enumerate(real["rows"]):
        point_at_a_pick(browser, number)
        tip = WebDriverWait(browser, 10).until(
            lambda browser: browser.find_element("css selector", ".pool-map-tip").text
        )
        lines = tip.splitlines()
        assert lines[0] == given["texts"][row]
        label, true = (given["classes"][given[key][row]] for key in ("predicted", "truth"))
        assert re.fullmatch(rf"Predicted: {re.escape(label)} \(\d+ %\)", lines[1])
        assert lines[2] == f"True: {true}"
        assert lines[3].startswith(f"Cluster {given['cluster'][row]} of real")
        assert lines[4].startswith("Picked by real")
        assert lines[5] == f"real: {real['reasons'][number]}"
    texts = [given["texts"][row] for row in real["rows"]]
    assert {odd for odd in ODD for text in texts if text.startswith(odd)} == set(ODD)
    inside = "return document.querySelectorAll('.pool-map-tip :not(p)').length"
    assert browser.execute_script(inside) == 0
    assert browser.get_log("browser") == []
    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert.text


def test_strategies_can_be_switched_on_and_off(show):
    browser = show()
    count = "return document.querySelectorAll('.pool-map-chart .point').length"
    before = browser.execute_script(count)
    labels = browser.find_elements("css selector", ".pool-map-keys label")
    names = [label.text for label in labels]
    odd = next(name for name in names if "<b>" in name)
    assert odd.endswith("picks of a <b> & $x_1$ 'q'.py:last")
    labels[names.index(odd)].click()
    assert browser.execute_script(count) == before + 12
    labels[names.index(odd)].click()
    assert browser.execute_script(count) == before


def test_the_map_follows_the_scheme_and_the_width(show):
    browser = show()
    ink = "return document.querySelector('.pool-map-chart').layout.font.color"
    light = browser.execute_script(ink)
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    WebDriverWait(browser, 10).until(lambda browser: browser.execute_script(ink) != light)
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    width = "return document.querySelector('.pool-map-chart svg').getBoundingClientRect().width"
    WebDriverWait(browser, 10).until(lambda browser: browser.execute_script(width) <= 390)


def test_the_map_fits_on_paper(show):
    browser = show()
    width = "return document.querySelector('.pool-map-chart').layout.width"
    assert browser.execute_script(width) > 700
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    WebDriverWait(browser, 10).until(lambda browser: browser.execute_script(width) <= 700)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    WebDriverWait(browser, 10).until(lambda browser: browser.execute_script(width) > 700)
