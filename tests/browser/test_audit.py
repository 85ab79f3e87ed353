"""The page of an audit in Chromium: nothing loaded, nothing wrong, readable on a telephone."""

import pytest
import torch

import calibkit


@pytest.fixture(scope="module")
def page_of_audit(build):
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(1500, 40, generator=generator) * 2
    labels = torch.multinomial((z * 0.6).softmax(1), 1, generator=generator)[:, 0]
    groups = ["camera A", "a group with a very long name indeed", "B"] * 500
    names = [f"class number {k}" for k in range(40)]
    options = {"groups": groups, "other": z / 2, "class_names": names, "name": "a_model_" * 8}
    return calibkit.audit(z, labels, **options).write(build / "audit.html")


@pytest.mark.parametrize("width", [1366, 390])
def test_it_fits_and_axe_finds_nothing_wrong(visit, accessible, page_of_audit, width):
    page = visit(page_of_audit, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    accessible(page)


def test_it_prints_on_the_width_of_paper(visit, page_of_audit):
    page = visit(page_of_audit, width=680)
    page.emulate_media(media="print")
    wide = "all => all.filter(t => t.getBoundingClientRect().right > innerWidth).length"
    assert page.eval_on_selector_all("table, svg", wide) == 0
