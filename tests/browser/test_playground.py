"""The playground: its numbers beside PyTorch's, and its page by mouse, keyboard and address."""

import base64
import functools
import re
from types import SimpleNamespace

import pytest
import torch
from playwright.sync_api import expect
from torch.nn import functional

from calibkit import losses, metrics, mixing, recalibration
from calibkit.course import browser as pages
from calibkit.lab import data, models, training

LOSSES = {
    "cross-entropy": functional.cross_entropy,
    "focal": functools.partial(losses.focal, gamma=3.0),
    "smoothing": functools.partial(losses.label_smoothing, alpha=0.1),
    "brier": losses.brier,
    "penalty": functools.partial(losses.confidence_penalty, weight=0.1),
}
SMALL = {"images": 1000, "width": 32, "epochs": 13}  # 8 steps an epoch
CASES = {
    **{name: {"loss": name} for name in LOSSES},
    "focal, mixup": {"loss": "focal", "mixup": 0.4},
    "Brier, mixup": {"loss": "brier", "mixup": 1},
    "mixup": {"mixup": 0.4},
    "decay": {"decay": 0.01},
    "rare classes": {"rho": 100},
    "wrong labels": {"wrong": 0.4},
    "wrong labels by class": {"wrong": 0.4, "kind": "class"},
    "linear": {"depth": 0},
}
# A training with all that it drew, so that PyTorch can repeat it step by step.
RECORDED = """changes => {
  const c = calibkit, settings = {...c.defaults(), ...changes};
  const digits = c.readDigits(JSON.parse(document.getElementById("digits").textContent));
  const run = new c.Run(digits, settings), test = c.testData(digits, settings);
  const [training] = run.trainings, {order, mixing} = training, orders = [], mixes = [];
  const weights = training.network.layers.map(({weight, bias}) => [[...weight], [...bias]]);
  training.order = {
    permutation: n => { const p = order.permutation(n); orders.push([...p]); return p; },
  };
  training.mixing = {
    beta: alpha => { const lam = mixing.beta(alpha); mixes.push([Math.fround(lam)]); return lam; },
    permutation: n => { const p = mixing.permutation(n); mixes.at(-1).push([...p]); return p; },
  };
  while (training.done < settings.epochs) run.epoch();
  const packed = numbers => { // as text, which travels faster than a list
    const bytes = new Uint8Array(Float64Array.from(numbers).buffer), parts = [];
    for (let at = 0; at < bytes.length; at += 30000) {
      parts.push(String.fromCharCode(...bytes.subarray(at, at + 30000)));
    }
    return btoa(parts.join(""));
  };
  const held = run.logits(run.held.images), {train} = run;
  const arrays = {images: train.images, labels: train.labels, clean: train.clean,
    test: test.images, test_labels: test.labels, posterior: test.posterior,
    logits: run.logits(test.images), held, held_labels: run.held.labels, losses: training.steps};
  return {settings, weights: weights.flat().map(packed), orders, mixes,
    ...Object.fromEntries(Object.entries(arrays).map(([name, one]) => [name, packed(one)]))};
}"""
# The mean gap on new images of the last epoch, over some seeds; as trained, or after temperature.
GAPS = """([changes, seeds]) => {
  const c = calibkit, digits = c.page.digits;
  let sum = 0;
  for (let seed = 0; seed < seeds; seed += 1) {
    const settings = {...c.defaults(), images: 300, ...changes, seed};
    const run = new c.Run(digits, settings);
    window.tests ??= {};
    const test = window.tests[[seed, settings.testNoise]] ??= c.testData(digits, settings);
    while (run.trainings[0].done < settings.epochs) run.epoch();
    const scores = {held: run.logits(run.held.images)};
    const T = c.temperatureOf(settings, scores, run.held.labels);
    sum += c.judgeLogits(run.logits(test.images), test.labels, T).gap;
  }
  return sum / seeds;
}"""
TRIAL = "images=1000&epochs=10&depth=1"  # a short training
CLIPPED = """() => [...document.querySelectorAll('main :is(button, p, h2, td, th, label, output)')]
  .filter(part => part.clientWidth && !part.classList.contains('hidden-words')
    && part.scrollWidth > part.clientWidth + 1
    && getComputedStyle(part).display !== 'inline').map(part => part.textContent.slice(0, 60))"""
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


def made():
    return pages.playground({f"{number:02}": f"lesson_{number:02}.html" for number in range(19)})


@pytest.fixture
def opened(visit, path):
    """Opens the page with settings in its address."""

    def opened(settings="", **screen):
        page = visit(path, f"#{settings}", **screen)
        page.locator("#verdict", has_text="It has not learned").wait_for()
        return page

    return opened


@pytest.fixture
def page(opened):
    """The page after a short training."""
    page = opened(TRIAL)
    train(page)
    return page


def train(page):
    page.locator("#train").click()
    finished(page)


def finished(page):
    last = page.locator("#epoch").inner_text().split()[-1]
    page.locator("#epoch", has_text=f"epoch {last} of {last}").wait_for(timeout=20_000)
    page.locator("#train:enabled").wait_for()


def values(page):
    """What the page says of new digits, as text."""
    return [page.locator(part).inner_text() for part in ("#says", "#is", "#verdict")]


# --- its numbers ---


def unpacked(text):
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.float64)


def recorded(page, **changes):
    """A training in the page: settings, weights, orders, mixes, and its data as tensors."""
    seen = page.evaluate(RECORDED, changes)
    flat = {name: unpacked(value) for name, value in seen.items() if isinstance(value, str)}
    shapes = {"images": (-1, 1, 8, 8), "test": (-1, 1, 8, 8)}
    shapes |= dict.fromkeys(("logits", "held", "posterior"), (-1, 10))
    found = {name: values.view(shapes.get(name, (-1,))) for name, values in flat.items()}
    found |= {name: found[name].long() for name in flat if name.endswith(("labels", "clean"))}
    found["weights"] = [unpacked(values) for values in seen["weights"]]
    return SimpleNamespace(**(seen | found))


def repeated(seen):
    """The losses of each step of the same training in PyTorch, and its network."""
    settings = seen.settings
    network = models.mlp(64, 10, width=settings["width"], depth=settings["depth"])
    with torch.no_grad():
        for target, values in zip(network.parameters(), seen.weights, strict=True):
            target.copy_(values.view_as(target))
    images, labels = seen.images.float(), seen.labels
    loss, mixes = LOSSES[settings["loss"]], iter(seen.mixes)
    recipe = training.Recipe(loss=loss, epochs=settings["epochs"], weight_decay=settings["decay"])
    optimizer = torch.optim.SGD(
        network.parameters(), lr=0.1, momentum=recipe.momentum, weight_decay=recipe.weight_decay
    )
    steps = []
    for epoch, order in enumerate(seen.orders):
        optimizer.param_groups[0]["lr"] = recipe.rate(epoch)
        for chosen in torch.tensor(order).split(recipe.batch_size):
            inputs, targets = images[chosen], labels[chosen]
            if settings["mixup"]:
                lam, partner = next(mixes)
                mix = mixing.Mix(torch.tensor(lam), torch.tensor(partner))
                inputs, targets = mix.apply(inputs), mix.soft_labels(targets, 10)
            value = loss(network(inputs), targets)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            steps.append(value.item())
    return torch.tensor(steps), network


@pytest.mark.parametrize("name", CASES)
def test_the_first_hundred_losses_are_those_of_pytorch(scripts, name):
    seen = recorded(scripts, **SMALL | CASES[name])
    theirs, _ = repeated(seen)
    assert len(theirs) >= 100
    assert (seen.losses - theirs)[:100].abs().max() < 1e-4  # nats, of 2.3 at the beginning


def test_measures_temperature_and_posterior_are_those_of_the_package(scripts):
    page = scripts
    for noise in (0.1, 0.4, 1):
        seen = recorded(page, images=300, width=16, epochs=20, noise=noise)
        assert (data.NoisyDigits(noise).posterior(seen.test) - seen.posterior).abs().max() < 1e-6
        rows = [seen.logits.flatten().tolist(), seen.test_labels.tolist()]
        probs = seen.logits.softmax(1)
        expected = {
            "accuracy": metrics.accuracy(probs, seen.test_labels),
            "confidence": probs.amax(1).mean().item(),
            "gap": metrics.signed_gap(probs, seen.test_labels),
            "ece": metrics.ece(probs, seen.test_labels),
            "nll": metrics.nll(probs, seen.test_labels),
        }
        judged = page.evaluate("([z, y]) => ({...calibkit.judgeLogits(z, y, 1), top: 0})", rows)
        assert {name: judged[name] for name in expected} == pytest.approx(expected, abs=1e-9)
        scaler = recalibration.TemperatureScaler().fit(seen.held, seen.held_labels)
        held = [seen.held.flatten().tolist(), seen.held_labels.tolist()]
        fitted = page.evaluate("([z, y]) => calibkit.fitTemperature(z, y, 10).temperature", held)
        assert fitted == pytest.approx(scaler.temperature, rel=1e-6)


def test_the_settings_move_the_gap_as_the_lessons_found(scripts):
    def gap(**changes):
        return scripts.evaluate(GAPS, [changes, 2])

    plain = gap()
    higher = [{"images": 150}, {"wrong": 0.4}, {"rho": 100}, {"testNoise": 0.8}]  # 05, 06, 07, 13
    lower = [{"decay": 0.005}, {"depth": 0}, {"images": 1500}, {"loss": "smoothing"}]  # 03, 05, 09
    lower += [{"loss": "focal"}, {"ensemble": 4}, {"mixup": 0.4}]  # 11, 12
    for sign, cases in ((1, higher), (-1, lower)):
        for changes in cases:
            assert sign * (gap(**changes) - plain) > 0.01, changes
    assert plain > 0.05
    assert gap(images=1500, epochs=5) < -0.05  # 03: it begins under-confident
    assert abs(gap(temperature="fitted")) < 0.03  # 08


# --- its page ---


def test_a_passer_by_sees_over_confidence_and_what_causes_it(opened):
    page = opened(width=1366, height=768)
    for part in ("#train", "#diagram-test svg", "#diagram-exact svg", "#images li"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 768, part
    page.get_by_label("too sure").check()
    train(page)
    said, right, verdict = values(page)
    assert verdict == f"Over-confident: it promises {int(said) - int(right)} more than it keeps."
    assert int(said) - int(right) >= 10
    assert "Right. 1 of 1" in page.locator("#score").inner_text()
    page.get_by_role("button", name="40 % shuffled labels").click()
    assert page.locator("#stale").is_visible()
    assert values(page)[2] == verdict  # of the run that is shown
    train(page)
    worse = [int(number) for number in values(page)[:2]]
    assert worse[0] - worse[1] > int(said) - int(right)
    page.get_by_role("button", name="40 % shuffled labels").click()  # takes it back
    page.get_by_role("button", name="a cure: temperature").click()
    train(page)
    assert page.locator("#verdict").inner_text().startswith("Calibrated")


def test_equal_settings_give_equal_runs_and_another_seed_another(opened):
    page, again, other = (opened(f"{TRIAL}&seed={seed}") for seed in (1, 1, 2))
    for one in (page, again, other):
        train(one)
    bars = [
        one.locator("#diagram-test .accuracy").get_attribute("d") for one in (page, again, other)
    ]
    assert bars[0] == bars[1] != bars[2]
    train(page)
    assert page.locator("#diagram-test .accuracy").get_attribute("d") == bars[0]


SETTINGS = """() => calibkit.SETTINGS.map(({name, stops, choices, start}) =>
  ({name, start, values: stops ?? Object.keys(choices), list: !stops}))"""
CHOSEN = "name => calibkit.page.session.settings[name]"
NEEDED = {  # what must be so for a setting to have a meaning
    "kind": "wrong=0.2",
    "gamma": "loss=focal",
    "alpha": "loss=smoothing",
    "weight": "loss=penalty",
    "T": "temperature=hand",
}


def test_every_setting_is_moved_by_keyboard_and_stands_in_the_address(opened):
    page = opened()
    for setting in page.evaluate(SETTINGS):
        name = setting["name"]
        page.evaluate("hash => { location.hash = hash; }", NEEDED.get(name, ""))
        control = page.locator(f"#set-{name}")
        control.wait_for(state="attached")
        page.evaluate("document.getElementById('more').open = true")
        control.focus()
        page.keyboard.press("Home")
        steps = [page.evaluate(CHOSEN, name)]
        for _ in setting["values"][1:]:
            page.keyboard.press("ArrowDown" if setting["list"] else "ArrowRight")
            steps.append(page.evaluate(CHOSEN, name))
            if not setting["list"]:
                words = control.get_attribute("aria-valuetext")
                assert words == control.locator("xpath=..").locator("output").inner_text()
        assert steps == setting["values"]
        if steps[-1] != setting["start"]:
            expect(page).to_have_url(re.compile(rf"#.*\b{name}={steps[-1]}(&|$)"))


def test_a_link_holds_all_settings_and_bad_ones_are_mended(opened):
    page = opened()
    settings = page.evaluate(SETTINGS)
    chosen = {one["name"]: one["values"][-1] for one in settings}
    hash_ = page.evaluate("settings => calibkit.toHash(settings)", chosen)
    assert page.evaluate("hash => calibkit.fromHash(hash)", hash_) == chosen
    start = {one["name"]: one["start"] for one in settings}
    assert page.evaluate("calibkit.toHash(calibkit.defaults())") == ""
    odd = "#images=310&loss=none&noise=&rho=many&width=1e9&T=Infinity&other=1&kind=toString"
    mended = page.evaluate("hash => calibkit.fromHash(hash)", odd)
    assert mended == start | {"images": 300, "width": 256}
    page.evaluate("hash => { location.hash = hash; }", "images=300&epochs=5")
    page.locator("#epoch", has_text="epoch 0 of 5").wait_for()
    assert page.locator("#set-images").get_attribute("aria-valuetext") == "300"


def test_pause_step_and_stop(opened):
    page = opened("epochs=200&images=300")
    page.locator("#train").click()
    page.locator("#epoch", has_text=re.compile(r"epoch [3-9] of")).wait_for()
    page.locator("#pause").click()
    page.wait_for_timeout(300)
    held = page.locator("#epoch").inner_text()
    page.wait_for_timeout(300)
    assert page.locator("#epoch").inner_text() == held
    assert page.locator("#train").inner_text() == "Continue"
    epoch = int(held.split()[1])
    page.locator("#step").click()
    page.locator("#epoch", has_text=f"epoch {epoch + 1} of").wait_for()
    page.locator("#train").click()
    page.locator("#epoch", has_not_text=f"epoch {epoch + 1} of").wait_for()
    page.locator("#stop").click()
    assert page.locator("#stop").is_disabled()
    assert page.locator("#train").inner_text() == "Train"
    page.locator("#step").click()
    page.locator("#epoch", has_text="epoch 1 of").wait_for()


def test_a_change_during_a_training_can_be_trained_at_once(opened):
    page = opened("epochs=200")
    page.locator("#train").press("Enter")
    page.locator("#epoch", has_not_text="epoch 0 of").wait_for()
    assert page.evaluate("document.activeElement.id") == "pause"  # the keyboard is not lost
    assert page.locator("#train").is_disabled()
    page.get_by_role("button", name="40 % shuffled labels").click()
    assert "goes on without it" in page.locator("#stale").inner_text()
    page.locator("#train:enabled").click()
    page.locator("#stale").wait_for(state="hidden")
    assert page.evaluate("calibkit.page.session.run.settings.wrong") == 0.4


def test_temperature_and_noise_of_new_images_need_no_training(page):
    said, right, _ = values(page)
    page.evaluate("document.getElementById('more').open = true")
    page.locator("#set-temperature").select_option("hand")
    page.locator("#set-T").press("End")
    assert int(page.locator("#says").inner_text()) < int(said)
    assert page.locator("#is").inner_text() == right
    page.locator("#set-temperature").select_option("none")
    assert values(page)[:2] == [said, right]
    page.locator("#set-testNoise").press("End")
    page.wait_for_timeout(1000)
    assert int(page.locator("#is").inner_text()) < int(right) - 10
    assert page.locator("#stale").is_hidden()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 390)])
def test_everyone_can_use_it(opened, scheme, width, accessible):
    page = opened(TRIAL, width=width, height=844)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    train(page)
    page.locator("#keep").click()
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate(CLIPPED) == []
    accessible(page)


def test_the_link_is_copied(opened):
    page = opened(TRIAL)
    page.evaluate("void (navigator.clipboard.writeText = async text => { window.kept = text; })")
    page.locator("#set-wrong").press("ArrowRight")
    page.locator("#copy-link").press("Enter")
    page.locator("#copied", has_text="The link is copied.").wait_for()
    link = page.evaluate("kept")
    assert link.startswith("file:")
    assert "wrong=0.05" in link
    assert page.locator("#link").is_hidden()
