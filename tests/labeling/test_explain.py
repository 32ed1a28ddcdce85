"""The page of a batch, as a file and in headless Chromium."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("selenium")

from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.common.action_chains import ActionChains

from real_plugin.labeling import projection
from real_plugin.labeling.cli import main
from tests.browser import fetched, luminance, open_page, start_chromium
from tests.labeling.conftest import write_csv
from tests.tiny import topical_texts

ODD = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    '"q" & <!--',
    "🙂 &lt;b&gt;",
)


@pytest.fixture(scope="module")
def page(tmp_path_factory, tiny_roberta):
    """explain.html of a project with odd texts, ids and classes."""
    root = tmp_path_factory.mktemp("page")
    texts, topics = topical_texts(150)
    rows = [
        {
            "id": f"<i>{i}</i>",
            "text": f"{ODD[i % 4]} {text}",
            "label": f"<u>{topic}</u> &" if i % 5 == 0 else "",
        }
        for i, (text, topic) in enumerate(zip(texts, topics, strict=True))
    ]
    write_csv(root / "pool <b>.csv", rows)
    project = ["--project", str(root / "p")]
    encoder = ["--encoder", str(tiny_roberta), "--max-length", "32"]
    assert main(["init", project[1], "--pool", str(root / "pool <b>.csv"), *encoder]) == 0
    assert main(["suggest", *project, "-n", "8", "-o", str(root / "b.csv")]) == 0
    assert main(["explain", *project, "-o", str(root / "explain.html")]) == 0
    return root / "explain.html"


@pytest.fixture(scope="module")
def chromium():
    yield from start_chromium()


def given_to_the_map(page):
    found = re.search(r'id="map">(.*?)</script>', page.read_text(encoding="utf-8"))
    return json.loads(found[1])


def test_the_map_has_all_that_the_round_has(page):
    given = given_to_the_map(page)
    assert len(given["x"]) == len(given["texts"]) == 150
    assert len(given["picks"]) == 8
    assert sorted(set(given["kind"])) == [0, 1, 2, 3]
    assert sum(kind == 1 for kind in given["kind"]) == 30
    assert given["classes"] == ["<u>politics</u> &", "<u>science</u> &", "<u>sport</u> &"]
    for row in given["picks"]:
        assert given["kind"][row] == 3


def test_nothing_is_logged_fetched_or_run(chromium, page):
    browser = open_page(chromium, page)
    assert browser.get_log("browser") == []
    assert [url for url in fetched(browser) if url != page.as_uri()] == []
    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert.text
    assert (
        browser.execute_script(
            "return document.querySelectorAll('img, u, i:not(.legend i), ol i').length"
        )
        == 0
    )


def test_the_list_shows_texts_as_they_are(chromium, page):
    browser = open_page(chromium, page)
    given = given_to_the_map(page)
    shown = browser.execute_script(
        "return [...document.querySelectorAll('ol.picks .text')].map((e) => e.textContent)"
    )
    assert shown == [given["texts"][row] for row in given["picks"]]
    assert sum(text.startswith(ODD) for text in shown) == 8
    assert len({odd for odd in ODD for text in shown if text.startswith(odd)}) > 1
    reasons = browser.execute_script(
        "return [...document.querySelectorAll('ol.picks .quiet')].map((e) => e.textContent)"
    )
    assert all("cluster" in reason and "id <i>" in reason for reason in reasons)


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(chromium, page, width, scheme):
    browser = open_page(chromium, page, width, scheme)
    scroll, window = browser.execute_script(
        "return [document.scrollingElement.scrollWidth, innerWidth]"
    )
    assert window == width
    assert scroll <= width
    paper, *inks = browser.execute_script("""
        return [getComputedStyle(document.body).backgroundColor,
          ...[...document.querySelectorAll("p, label, figcaption, .legend span")]
            .filter((e) => e.innerText.trim()).map((e) => getComputedStyle(e).color)]""")
    assert (luminance(paper) < 0.1) == (scheme == "dark")
    for ink in set(inks):
        low, high = sorted([luminance(paper), luminance(ink)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, ink


def coloured(browser):
    """Pixels of the canvas that are drawn on."""
    return browser.execute_script("""
        const canvas = document.querySelector("canvas");
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let count = 0;
        for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
        return count""")


def test_layers_clusters_and_zoom(chromium, page):
    browser = open_page(chromium, page)
    everything = coloured(browser)
    assert everything > 1000
    boxes = browser.find_elements("css selector", ".controls input")
    for box in boxes:
        box.click()
    assert coloured(browser) == 0
    boxes[3].click()
    assert 0 < coloured(browser) < everything
    for box in boxes[:3]:
        box.click()
    assert coloured(browser) == everything
    browser.find_element("id", "out").click()
    assert coloured(browser) < everything
    browser.find_element("id", "all").click()
    assert coloured(browser) == everything
    options = browser.find_elements("css selector", "#cluster option")
    assert "pseudo error" in options[1].text


@pytest.mark.parametrize("width", [390, 1200])
def test_a_pick_of_the_list_is_shown_on_the_map_and_back(chromium, page, width):
    browser = open_page(chromium, page, width)
    given = given_to_the_map(page)
    browser.execute_script("document.querySelectorAll('ol.picks > li')[2].click()")
    tip = browser.find_element("css selector", ".tip").text.splitlines()
    assert tip[0] == given["texts"][given["picks"][2]]
    assert tip[2] == "Picked"
    assert tip[3].startswith(f"Cluster {given['cluster'][given['picks'][2]]}: ")
    assert browser.execute_script("return document.querySelectorAll('li.on').length") == 1


def on_screen(given, width, height):
    """Where the rows are on a canvas that shows the whole map."""
    places = np.array([given["x"], given["y"]], dtype=float).T
    low, high = places.min(axis=0), places.max(axis=0)
    scale = 0.94 * min(np.array([width, height]) / (high - low))
    return np.array([width, height]) / 2 + (places - (low + high) / 2) * [scale, -scale]


@pytest.mark.parametrize("width", [390, 1200])
def test_pointing_at_a_pick_tells_of_it(chromium, page, width):
    browser = open_page(chromium, page, width)
    given = given_to_the_map(page)
    browser.execute_script("document.querySelector('canvas').scrollIntoView()")
    left, top, *size = browser.execute_script("""
        const box = document.querySelector("canvas").getBoundingClientRect();
        const border = document.querySelector("canvas").clientLeft;
        return [box.left + border, box.top + border, document.querySelector("canvas").clientWidth,
                document.querySelector("canvas").clientHeight]""")
    places = on_screen(given, *size)
    for row in given["picks"]:
        x, y = places[row]
        actions = ActionChains(browser)
        actions.w3c_actions.pointer_action.move_to_location(round(left + x), round(top + y))
        actions.perform()
        tip = browser.find_element("css selector", ".tip").text.splitlines()
        near = np.hypot(*(places[given["picks"]] - places[row]).T) < 4
        assert tip[0] in {given["texts"][other] for other in np.array(given["picks"])[near]}
        assert tip[2] == "Picked"
    assert browser.get_log("browser") == []


def test_large_pools_are_sampled(page, monkeypatch):
    from real_plugin.labeling.rounds import load_round

    kept = load_round(page.parent / "p" / "rounds" / "0001")
    monkeypatch.setattr(projection, "MOST_ROWS", 60)
    rows = projection.sample(kept)
    assert len(rows) == 60
    assert set(kept.picks) <= set(rows)
    assert len(set(rows)) == 60
    is_error = kept.pseudo_errors[rows].sum()
    assert is_error > kept.pseudo_errors.mean() * 60


@pytest.mark.parametrize("method", projection.METHODS)
@pytest.mark.parametrize("n_rows", [1, 2, 5, 40])
def test_any_pool_has_positions(method, n_rows):
    vectors = np.random.default_rng(0).normal(size=(n_rows, 8)).astype(np.float32)
    positions = projection.project(vectors, method, 0)
    assert positions.shape == (n_rows, 2)
    assert np.isfinite(positions).all()


def test_a_page_without_a_project(run, pool, labels, place):
    arguments = ["suggest", pool, "--labels", labels, "-n", 5, "--explain", "page.html"]
    assert run(*arguments)[0] == 0
    assert "<canvas" in (place / "page.html").read_text()


def test_a_cold_start_has_a_page_too(project, run, place):
    assert run("suggest", "--project", project, "-n", 5, "-o", "b.csv")[0] == 0
    assert run("explain", "--project", project, "--projection", "pca", "-o", "c.html")[0] == 0
    text = (place / "c.html").read_text()
    assert "texts from all over the pool" in text
