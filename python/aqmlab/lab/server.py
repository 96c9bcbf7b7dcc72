"""Serves the page on the loopback interface: a fixed list of files behind a token, and finished
results, read only."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from aqmlab.errors import AqmlabError

from . import results

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
}
Answer = tuple[str, bytes]
"""The response to a request: its content type and its content."""


class Laboratory(ThreadingHTTPServer):
    """Serves `page` and shows the results in the folder `results`, on 127.0.0.1 only; the page
    loads `controls`, the user's own congestion controls named on the command line."""

    daemon_threads = True

    def __init__(
        self, page: Path, folder: Path, port: int = 0, controls: Iterable[Path] = ()
    ) -> None:
        if not (page / "index.html").is_file():
            raise AqmlabError(
                "the laboratory in a tab was not built here: make web, or install a wheel with it"
            )
        self.folder = folder
        self.token = secrets.token_urlsafe(16)
        # The files are listed once, at the start: files that are added later are not served.
        self.page = {p.name: p for p in page.iterdir() if p.is_file() and not p.is_symlink()}
        self.controls = {f"control-{i}.wasm": path for i, path in enumerate(controls)}
        self.page |= self.controls
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def host(self) -> str:
        """Address and port of the server, as in a `Host` header."""
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def address(self) -> str:
        """The URL for a browser, token included."""
        return f"http://{self.host}/{self.token}/"

    def answer(self, path: str) -> Answer | None:
        """The answer to a path below the token; None if there is nothing at that path."""
        name = path or "index.html"
        if name == "lab.json":
            return _json({"results": results.names(self.folder), "controls": list(self.controls)})
        if name in self.page:
            return TYPES.get(Path(name).suffix, "application/octet-stream"), self.page[
                name
            ].read_bytes()
        first, _, rest = name.partition("/")
        return self._result(rest) if first == "results" else None

    def _result(self, rest: str) -> Answer | None:
        known = results.names(self.folder)
        name, _, figure = rest.partition("/")
        if not figure and name.removesuffix(".json") in known:
            return _json(results.shown(self.folder / name.removesuffix(".json")))
        if name in known and figure in results.figures(self.folder / name):
            return TYPES[".svg"], (self.folder / name / "figures" / figure).read_bytes()
        return None


def _json(content: object) -> Answer:
    return TYPES[".json"], json.dumps(content).encode()


class _Handler(BaseHTTPRequestHandler):
    server: Laboratory  # pyright: ignore[reportIncompatibleVariableOverride]
    server_version = "aqmlab"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        token, _, path = unquote(self.path.partition("?")[0]).lstrip("/").partition("/")
        # With another `Host` the request is from another site's page whose name resolves to this
        # machine (DNS rebinding).
        mine = self.headers.get("Host") == self.server.host
        good = mine and secrets.compare_digest(token.encode(), self.server.token.encode())
        found = self.server.answer(path) if good else None
        if found is None:
            return self._send(HTTPStatus.NOT_FOUND, ("text/plain; charset=utf-8", b"not here\n"))
        return self._send(HTTPStatus.OK, found)

    do_HEAD = do_GET  # noqa: N815

    def _send(self, status: HTTPStatus, answer: Answer) -> None:
        kind, content = answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        # A picture's styles are within it and permitted; its scripts must not run.
        policy = "default-src 'none'; style-src 'unsafe-inline'" if "svg" in kind else POLICY
        self.send_header("Content-Security-Policy", policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing: the terminal shows the address only."""
