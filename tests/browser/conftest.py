"""One browser and one JupyterLab for all tests."""

import os
import shutil
from contextlib import ExitStack

import pytest
from playwright.sync_api import sync_playwright

from calibkit.course import browser as computing
from calibkit.course import checkout, pages
from tests.browser import axe, chromium
from tests.browser import lab as labs
from tests.browser.drive import HANDLE, as_page, watched


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def build():
    """Where tests write: build/browser, one for each process, emptied first."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    folder = checkout.root() / "build" / (f"browser_{worker}" if worker else "browser")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="session")
def exported(build):
    """The folder with the course as pages."""
    pages.export_all(target=build / "pages")
    return build / "pages"


@pytest.fixture(scope="session")
def lab(build):
    """JupyterLab over a folder into which tests write their notebooks."""
    work = build / "lab"
    ignored = shutil.ignore_patterns("*.ipynb", ".*")
    shutil.copytree(checkout.root() / "notebooks", work / "notebooks", ignore=ignored)
    with labs.running(work) as lab:
        yield lab


@pytest.fixture(scope="module")
def still(request, build):
    """The explorer that the CELLS of a module make, as a page without a kernel."""
    space = {"__name__": "cells"}
    exec("\n".join(request.module.CELLS), space)
    return as_page(space["explorer"], build / f"{request.module.__name__.rpartition('.')[2]}.html")


@pytest.fixture(scope="module", params=["page", "lab"])
def kept(request, browser):
    """The same explorer on a page without a kernel and in JupyterLab: the page and its root."""
    lab = request.getfixturevalue("lab") if request.param == "lab" else None
    home = {"home": lab.home} if lab else {}
    with watched(browser, **home, width=1366, height=768) as (page, seen):
        if lab:
            name = request.module.__name__.rpartition(".")[2]
            labs.write(lab, name, *request.module.CELLS)
            labs.open_notebook(page, lab, name)
            assert labs.restart_and_run_all(page) == "done"
        else:
            page.goto(request.getfixturevalue("still").as_uri())
        root = page.locator(".calibkit-explorer")
        root.locator(".picture svg").first.wait_for()
        yield page, root
        assert seen == []
    if lab:
        lab.forget()


@pytest.fixture
def opened(kept):
    """That explorer, its sliders where they begin, for a reader who wants no motion."""
    page, root = kept
    page.emulate_media(reduced_motion="reduce")
    for handle in root.locator(HANDLE).all():
        handle.press("Home")
    return page, root


@pytest.fixture
def visit(browser):
    """Opens pages from their files; at the end nothing was wrong with any of them."""
    heard = []
    with ExitStack() as stack:

        def visit(path, hash_="", **options):
            page, seen = stack.enter_context(watched(browser, **options))
            heard.append(seen)
            page.goto(path.as_uri() + hash_)
            return page

        yield visit
    assert [words for seen in heard for words in seen] == []


@pytest.fixture(scope="module")
def path(request, build):
    """The file of the page that a module's `made` gives."""
    name = request.module.__name__.rpartition(".")[2]
    return computing.write(request.module.made(), build / f"{name}.html")


@pytest.fixture
def page(visit, path):
    return visit(path)


@pytest.fixture(scope="module")
def scripts(browser, path):
    """The page at a module's `path`, for tests that call its functions alone."""
    with watched(browser, home=path.as_uri()) as (page, seen):
        page.goto(path.as_uri())
        yield page
    assert seen == []


@pytest.fixture(scope="session")
def faults(build):
    """What axe finds wrong with a page, or with an element of it; nothing where axe-core is not
    here and npm cannot fetch it (set CALIBKIT_AXE to axe.min.js).
    """
    script = axe.script(build.parent / "axe")

    def faults(page, root=None, rules=axe.EVERY):
        return axe.violations(page, root or page.locator("html"), script, rules) if script else []

    return faults


@pytest.fixture(scope="session")
def accessible(faults):
    """Asserts that axe finds nothing wrong."""

    def accessible(*asked):
        assert faults(*asked) == []

    return accessible
