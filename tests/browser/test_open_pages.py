"""Whoever has unpacked the course, without Python and network: a network, an audit, a lesson."""

import io
import re
import subprocess
import zipfile
from urllib.parse import urlsplit

import pytest

from calibkit.course import checkout, open_pages


@pytest.fixture(scope="module")
def zipped(tmp_path_factory):
    """The zip of the repository, unpacked in a folder as people name them."""
    command = ["git", "-C", str(checkout.root()), "archive", "--format=zip", "HEAD"]
    packed = subprocess.run(command, capture_output=True, check=False)
    if packed.returncode:
        pytest.skip("no repository, such as an unpacked zip")
    folder = tmp_path_factory.mktemp("door") / "My Downloads – calibkit"
    zipfile.ZipFile(io.BytesIO(packed.stdout)).extractall(folder)
    return folder


def test_from_the_zip_the_readme_leads_to_pages_that_lead_to_each_other(visit, zipped):
    readme = (zipped / "README.md").read_text(encoding="utf-8")
    pages = [zipped / path for path in re.findall(r"\((notebooks/open/[^)]+)\)", readme)]
    assert [page.name for page in pages] == list(open_pages.WORDS)
    for path in pages:
        page = visit(path)
        links = page.locator("a[href]").evaluate_all("links => links.map(link => link.href)")
        local = {urlsplit(link).path.rpartition("/")[2] for link in links if "file:" in link}
        assert local == set(open_pages.WORDS)
        for name, words in open_pages.WORDS.items():
            page.get_by_role("navigation").get_by_role("link", name=words, exact=True).click()
            page.wait_for_url((path.parent / name).as_uri())
            assert page.get_by_role("heading", level=1).first.is_visible()
