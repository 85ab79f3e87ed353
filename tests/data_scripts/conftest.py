"""What the tests of the data scripts share: small archives, and a server that can misbehave."""

import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from torchvision.datasets import SVHN

from tests.data_scripts import builders


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Makes a dataset's files, whose published hashes nobody asks for."""
    monkeypatch.setattr(SVHN, "_check_integrity", lambda _: True)
    return partial(builders.published, home=tmp_path)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        shelf, wanted = self.server, self.headers.get("Range", "bytes=0-")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if shelf.ranges else 0
        shelf.requests.append((self.path, start))
        content = shelf.content[self.path.lstrip("/")]
        if start and start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        body = content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if shelf.drops else body)
        self.close_connection = True

    def log_message(self, *_):
        pass


class Shelf(ThreadingHTTPServer):
    """What it offers: content by name; whether it drops connections, and knows ranges."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.requests, self.drops, self.ranges = {}, [], False, True
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def shelf(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with Shelf() as offered:
        yield offered
        offered.shutdown()
