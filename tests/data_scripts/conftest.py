"""What the tests of the data scripts share: small archives, and a server that can misbehave."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from torchvision.datasets import SVHN

from tests.data_scripts import builders


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Builds a dataset's files in their true format: its row, the files, what is in them."""

    def build(name, **changes):
        folder = tmp_path / "published" / name
        folder.mkdir(parents=True)
        files, expected = builders.BUILDERS[name](folder)
        if name == "svhn":  # torchvision looks at the hashes once more
            stated = {s: [u, n, builders.md5(files[n].read_bytes())] for s, (u, n, _) in
                      SVHN.split_list.items() if n in files}  # fmt: skip
            monkeypatch.setattr(SVHN, "split_list", stated)
        return builders.trusting(name, files, **changes), files, expected

    return build


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        shelf = self.server.shelf
        start = self._start()
        shelf.requests.append((self.path, start))
        content = shelf.content.get(self.path.lstrip("/"))
        if content is None:
            self.send_error(404)
            return
        if start and start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        body = content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if shelf.drops else body)
        self.wfile.flush()
        self.close_connection = True

    def _start(self):
        wanted = self.headers.get("Range", "bytes=0-")
        return int(wanted.removeprefix("bytes=").rstrip("-")) if self.server.shelf.ranges else 0

    def log_message(self, *_):
        pass


class Shelf:
    """What the server offers: content by name; whether it drops connections, and knows ranges."""

    def __init__(self):
        self.content, self.requests, self.drops, self.ranges = {}, [], False, True
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.shelf = self
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def shelf(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    offered = Shelf()
    yield offered
    offered.server.shutdown()
    offered.server.server_close()
