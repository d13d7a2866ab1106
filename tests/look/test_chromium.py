"""The replay in a real browser: it plays, picks, plots, deforms, and draws a picture."""

import io
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.integrate.trajectory import Occurrence
from bough.results.recorded_parts import modal_coordinates
from tests.support.result_runs import antenna, antenna_run, craft
from tests.support.tolerance import PRODUCTS, SINGLE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (Debian: apt-get install chromium): "
                                                         "the replay is not tested in a browser")  # fmt: skip
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--use-gl=angle", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: the replay is not tested in a browser")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Shown:
    """A replay in a tab: asks its scripts, and keeps what they complain about."""

    def __init__(self, browser, path: Path) -> None:
        self.page = browser.new_page(viewport={"width": 1000, "height": 620})
        self.complaints: list[str] = []
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("window.replay")

    def hear(self, message):
        """Errors and warnings, but those of the software renderer, which reading its pixels keeps waiting."""
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.complaints.append(message.text)

    def ask(self, script):
        return self.page.evaluate(script)

    def wait_until_drawn(self):
        """Until what was asked for is drawn."""
        self.page.wait_for_function("!window.replay.world.stage.stale")

    def picture(self, selector="#view"):
        from PIL import Image

        self.wait_until_drawn()
        shot = self.page.locator(selector).screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=float)


@pytest.fixture(scope="module")
def antenna_page(browser, tmp_path_factory):
    """A free bus, a flexible boom and mast, a dish, a wheel: recorded with reactions."""
    shown = Shown(browser, antenna_run().view(tmp_path_factory.mktemp("replay") / "antenna.html").path)
    yield shown
    assert shown.complaints == []                                  # after all that the tests did


@pytest.fixture
def shown(antenna_page):
    antenna_page.ask("replay.pause(); replay.world.scale = 1; replay.modes.show(-1, 0)")
    antenna_page.ask("replay.seek(0); replay.pick(''); replay.follow('world')")
    return antenna_page


def test_it_plays_and_stops(shown):
    shown.page.click("#play")
    shown.page.wait_for_function("replay.time > 0.1")
    shown.page.keyboard.press("Space")
    stopped = shown.ask("replay.time")
    shown.page.wait_for_timeout(150)
    assert shown.ask("replay.time") == stopped
    assert float(shown.ask("document.getElementById('slider').value")) == pytest.approx(stopped, rel=PRODUCTS)
    assert shown.ask("document.querySelector('#clock b').textContent") == f"{stopped:.3f}"


def test_bodies_are_where_the_model_has_them(shown):
    run, rows = antenna_run(), [0, 10, 11, 100]
    for name in run.system.bodies:
        places = antenna().pose(run.array("q")[rows], name)[0]
        for t, place in zip(run.time[rows], places, strict=True):
            shown.ask(f"replay.seek({float(t)!r})")
            assert np.abs(np.array(shown.ask(f"replay.position('{name}')")) - place).max() < 1e-6      # some meters, in floats
        shown.ask(f"replay.seek({float(run.time[10:12].mean())!r})")           # a line between frames
        assert np.abs(np.array(shown.ask(f"replay.position('{name}')")) - places[1:3].mean(axis=0)).max() < 1e-6      # likewise


def test_a_click_on_a_body_picks_it(shown):
    shown.wait_until_drawn()
    x, y = shown.ask("replay.screen('bus')")
    shown.page.mouse.click(x, y)
    assert shown.ask("replay.picked") == "bus"
    assert shown.page.inner_text("#picked-name") == "bus"
    assert shown.page.inner_text("#tree .row.picked").startswith("bus")
    shown.page.click("#tree .row:has-text('mast')")
    assert shown.ask("replay.picked") == "mast"
    shown.wait_until_drawn()
    assert shown.page.inner_text("#labels .label.picked") == "mast"
    shown.page.keyboard.press("Escape")
    assert shown.ask("replay.picked") is None


def test_the_tree_can_be_searched(shown):
    shown.page.fill("#search", "hinge")
    assert shown.page.locator("#tree .row:visible").count() == 1
    shown.page.fill("#search", "")
    assert shown.page.locator("#tree .row:visible").count() == 5   # four bodies and a wheel


def test_plots_have_curves_and_a_cursor_that_moves(shown):
    shown.page.set_viewport_size({"width": 1300, "height": 620})
    shown.ask("document.getElementById('app').classList.remove('no-right')")
    before = shown.picture(".plot canvas >> nth=0")
    assert before.std() > 5                                        # lines on a plain ground
    shown.ask("replay.seek(0.5)")
    after = shown.picture(".plot canvas >> nth=0")
    assert np.abs(after - before).max() > 50
    box = shown.page.locator(".plot canvas >> nth=0").bounding_box()
    frame = shown.ask("replay.plots.plots[0].frame")
    shown.page.mouse.click(box["x"] + 0.75 * frame["right"] + 0.25 * frame["left"], box["y"] + box["height"] / 2)
    assert shown.ask("replay.time") == pytest.approx(0.75, abs=0.01)           # a pixel of 290
    options = shown.page.locator(".plot select >> nth=0").inner_text()
    assert "total energy [J]" in options
    assert "reaction [N m]" in options
    shown.page.select_option(".plot select >> nth=0", label="total energy [J]")
    value, expected = shown.ask("replay.plots.plots[0].value(0, 50)"), antenna_run().array("total_energy")
    assert abs(value - expected[50]) <= 0.51 * np.ptp(expected) / 65534 + 4 * np.spacing(np.abs(expected).max())
    shown.page.click("#add-plot")
    assert shown.page.locator(".plot").count() == 3
    shown.page.click(".plot >> nth=2 >> button")
    assert shown.page.locator(".plot").count() == 2


def test_positions_in_plots_are_those_of_the_picture(shown):
    group = shown.ask("replay.plots.curves.findIndex((group) => group.name === 'position')")
    shown.ask(f"replay.plots.plots[0].choose({group})")
    values = shown.ask("[5, 9].map((i) => replay.plots.plots[0].value(i, 30))")
    positions = antenna_run().array("position")[30].reshape(-1)[[5, 9]]
    assert np.abs(values - positions).max() < 1e-6                  # some meters, in floats


def test_the_picture_is_not_blank_and_moves(shown):
    first = shown.picture()
    assert first.std(axis=(0, 1)).max() > 8                        # against a soft gradient alone: 3
    shown.ask("replay.seek(1.0)")
    assert np.abs(shown.picture() - first).max() > 60


def test_deformations_are_scaled_and_what_a_node_carries_goes_along(shown):
    """At scale s the tip is displaced s times as far; the mast and the dish stay on their nodes."""
    gap = """(() => { const w = replay.world, k = w.bodies.findIndex((body) => body.name === 'mast');
        return w.locate(w.bodies[k].joint.place, new w.actual[0].constructor()).p.distanceTo(w.shown[k].p); })()"""
    tip = """(() => { const f = replay.world.flexible[2], k = 3 * f.spec.chain[f.spec.chain.length - 1];
        return [...f.moved.slice(k, k + 3)]; })()"""
    shown.ask("replay.seek(0.0)")
    assert shown.ask(gap) < 1e-3                                   # the drawing knows the second order of the bending by the slopes
    once = np.array(shown.ask(tip))
    shown.ask("replay.world.scale = 5; replay.world.update(0)")
    five = np.array(shown.ask(tip))
    assert five[1:] == pytest.approx(5 * once[1:], rel=1e-5)       # floats
    assert shown.ask(gap) < 1e-3                                   # as before
    eta = modal_coordinates(antenna().system, antenna_run().array("q")[0])["boom"]
    wanted = antenna().system.bodies["boom"].elastic.displacement(eta)["tip"]
    assert once[1:] == pytest.approx(wanted[1:], rel=15 * SINGLE)


def test_modes_swing(shown):
    before = shown.ask("[...replay.world.flexible[2].shown]")
    shown.ask("replay.modes.show(2, 1)")
    shown.page.wait_for_timeout(200)
    after = shown.ask("[...replay.world.flexible[2].shown]")
    assert [value != 0 for value in after] == [False, True, False, False]
    shown.ask("replay.modes.show(-1, 0)")
    assert shown.ask("[...replay.world.flexible[2].shown]") == before


def test_colors_have_a_legend(shown):
    shown.page.locator("summary:has-text('Deformation')").scroll_into_view_if_needed()
    shown.page.select_option("label.knob:has-text('color') select", "displacement")
    assert "displacement [m]" in shown.page.inner_text("#legend")
    plain = shown.picture()
    shown.page.select_option("label.knob:has-text('color') select", "curvature")
    assert "bending curvature of beams [1/m]" in shown.page.inner_text("#legend")
    assert np.abs(shown.picture() - plain).max() > 40
    shown.page.select_option("label.knob:has-text('color') select", "none")
    assert shown.page.locator("#legend").is_hidden()


def test_stress_and_strain_are_colors(browser, tmp_path):
    """Of a plate let go on a hinge: what the page makes of the tensors at its points, and the legend's largest value of the run."""
    plate = bough.flex.solid(
        bough.flex.box((1.0, 0.3, 0.01), (8, 3, 1)), attach={"root": ("x", 0.0)}, inboard="root", order=1, modes=3, recover="all",
        E=7e10, nu=0.33, density=2700.0,
    )  # fmt: skip
    system = bough.System("swing", gravity=(0, 0, -9.81))
    system.body("plate", joint=bough.Revolute("y"), flexible=plate)
    result = bough.simulate(system.compile(), until=0.05, dt=1e-4, sample_rate=200)
    shown = Shown(browser, result.view(tmp_path / "swing.html").path)
    shown.ask("replay.seek(0.05)")
    eta, points = result.data.q.values[-1, 1:], np.unique(plate.outline.faces)
    pictures = []
    for what, scale, factor, shear, legend in (("stress", 1e-6, 1, 3, "equivalent stress [MPa]"),
                                               ("strain", 1.0, 2 / 3, 3 / 4, "equivalent strain")):  # fmt: skip
        x, y, z, xy, yz, zx = scale * (getattr(plate.recovery, f"point_{what}")[points] @ eta).T
        wanted = factor * np.sqrt(((x - y)**2 + (y - z)**2 + (z - x)**2) / 2 + shear * (xy**2 + yz**2 + zx**2))
        shown.page.select_option("label.knob:has-text('color') select", what)
        assert legend in shown.page.inner_text("#legend")
        measured = shown.ask("[...replay.world.flexible[0].measured]")
        assert measured == pytest.approx(wanted, rel=0, abs=45 * SINGLE * wanted.max())
        pictures.append(shown.picture())
        assert np.ptp(pictures[-1].mean(axis=2)) > 60
    assert shown.complaints == []


def test_loads_are_arrows(shown):
    without = shown.picture()
    shown.page.get_by_label("joint loads").check()
    assert "joint loads: longest" in shown.page.inner_text("#options")
    assert np.abs(shown.picture() - without).max() > 60
    shown.page.get_by_label("joint loads").uncheck()


def test_the_camera_follows_a_body(shown):
    shown.ask("replay.follow('dish')")
    shown.wait_until_drawn()
    first = shown.ask("replay.screen('dish')")
    shown.ask("replay.seek(1.0)")
    assert shown.ask("replay.screen('dish')") == pytest.approx(first, abs=1.0)
    shown.ask("replay.follow('world')")
    stays = shown.ask("replay.screen('dish')")
    shown.ask("replay.seek(0)")
    assert np.abs(np.array(shown.ask("replay.screen('dish')")) - stays).max() > 3


def test_it_fits_its_window(shown):
    shown.page.set_viewport_size({"width": 700, "height": 500})
    shown.page.wait_for_function("document.getElementById('stage').width === document.getElementById('view').clientWidth")
    assert shown.picture().shape[0] < 500
    shown.page.set_viewport_size({"width": 1000, "height": 620})


def test_a_craft_far_away_stays_in_the_picture(browser, tmp_path):
    """7000 km off, at 7 km/s."""
    model = craft()
    q0, v0 = np.array(model.q0), np.array(model.v0)
    q0[:3] += 7e6
    v0[0] = 7000.0
    result = bough.simulate(model, q0=q0, v0=v0, until=2.0, dt=1e-3, sample_rate=50)
    shown = Shown(browser, result.view(tmp_path / "far.html").path)
    for t in (0.0, 1.013, 2.0):
        shown.ask(f"replay.seek({t})")
        x, y = shown.ask("replay.screen('bus')")
        box = shown.page.locator("#stage").bounding_box()
        assert abs(x - box["x"] - box["width"] / 2) < box["width"] / 4
        assert abs(y - box["y"] - box["height"] / 2) < box["height"] / 4
        assert shown.picture().std(axis=(0, 1)).max() > 8
    assert shown.ask("document.getElementById('follow').value") == "center"
    assert shown.complaints == []


def test_events_and_odd_names(browser, tmp_path):
    s = bough.System("<b>latch</b>", gravity=(0, 0, -9.81))
    s.body("<i>bob</i>", joint=bough.Revolute("y", q0=0.5), mass=2.0, com=(0, 0, -1))
    trajectory = bough.simulate(s, until=2.0, dt=1e-2, sample_rate=50).trajectory
    result = bough.Result(replace(trajectory, events=((Occurrence(1.25, "catch", "locks it"),),)))
    shown = Shown(browser, result.view(tmp_path / "latch.html").path)
    mark = shown.page.locator("#events i")
    assert mark.count() == 1
    assert mark.get_attribute("title") == "1.25 s: 'catch' locks it"
    mark.click()
    assert shown.ask("replay.time") == 1.25
    assert shown.page.inner_text("#name") == "<b>latch</b>"
    shown.page.click("#tree .row >> nth=0")
    assert shown.page.inner_text("#picked-name") == "<i>bob</i>"
    assert shown.page.locator("#tree i i").count() == 0
    assert shown.complaints == []
