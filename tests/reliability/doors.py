"""A8: no request reaches an operation without a key that permits it, and none the work of another tenant.

Generated from the table of operations: each path in its own form and in others, by each method, without a key, with
wrong, revoked and expired ones, and with a key of all scopes but the one that the operation needs. Then the objects of
one tenant (documents, responses, schemas, files, batches, jobs) in every place where a request may name one, by the key
of another. Does not: compare times; that keys are compared by digest is `tests/service/test_access.py`.
"""

import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
from intaglio.service.http.interface import OPERATIONS
from intaglio.service.keys.key_store import KeyGrant, KeyStore
from intaglio.service.keys.scopes import ALL_SCOPES, KeyScope

from tests.reliability.figures import Figure
from tests.reliability.served import Served, served
from tests.reliability.wire import PATIENCE_S, Address, head
from tests.support.live_service import until
from tests.support.owned_objects import OwnedObjects, filled

METHODS: Final = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "FOO")
FORMS: Final = (
    *("/{}", "{}/", "{}//", "/.{}", "/%2e{}", "/x/..{}", "/x/%2e%2e{}", "{}/.", "{}%2f", "{}%00"),
    *("{};a", "{}?x", "{}%3fx", "{}#x", "{}%20", "{}.json", "\\{}", "http://localhost{}"),
    *("/docs/..{}", "/docs/%2e%2e{}", "/docs%2f..{}", "/page/..{}", "/health/..{}", "/health;{}"),
)
"""Other ways to write a path. Proxies and servers have taken some of them for the path itself."""
LISTS: Final = ("/v1/schemas", "/v1/files", "/v1/batches", "/v1/jobs")
OWN: Final = (200, 201, 204, 400, 415, 422)
"""Statuses of a tenant's own objects: it finds them, whatever it may do with them."""
MODEL: Final = "scripted"
OPEN: Final = (200, 404, 405)
"""Statuses without a key of what needs none: probes, and the files of the pages, present or not."""


@dataclass(slots=True)
class Tried:
    """How many requests were sent, by status, and those that were let in."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, what: str, status: int, allowed: Iterable[int]) -> None:
        self.statuses[status] += 1
        if status not in allowed:
            self.wrong.append(f"{status} {what}")


class Connection:
    """Requests as bytes, which no client makes decent, over a connection that is opened again when it was closed."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._socket: socket.socket | None = None

    def status(self, method: str, path: str, headers: Mapping[str, str]) -> int:
        """The status of a request without a body."""
        request = head(method, path, {"content-length": "0", **headers})
        for _ in range(2):  # the server may have closed the connection that was used before
            connection = self._socket or socket.create_connection(self._address, PATIENCE_S)
            self._socket = None
            connection.sendall(request)
            reader = connection.makefile("rb")
            if line := reader.readline():
                found = int(line.split()[1])
                self._keep(connection, reader, method)
                return found
            connection.close()
        raise ConnectionError(f"no response to {method} {path}")

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()

    def _keep(self, connection: socket.socket, reader: Any, method: str) -> None:
        """Read the rest of a response, so that the connection can be used again."""
        length, close, chunked = 0, False, False
        while (line := reader.readline().strip().lower()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name == b"content-length" else length
            close |= name == b"connection" and b"close" in value
            chunked |= name == b"transfer-encoding"
        if method != "HEAD":
            reader.read(length)
        if close or chunked:
            connection.close()
        else:
            self._socket = connection


def bad_keys(store: KeyStore) -> Iterator[tuple[str, dict[str, str]]]:
    """Names and headers of requests without a valid key."""
    good, _ = store.create(KeyGrant())
    revoked, made = store.create(KeyGrant())
    store.revoke(made.id)
    expired, _ = store.create(KeyGrant(lifetime_s=1e-3))
    time.sleep(0.01)
    yield "no key", {}
    yield "an empty key", {"authorization": "Bearer "}
    yield "a wrong key", {"authorization": "Bearer ik_00000000_x"}
    yield "a revoked key", {"authorization": f"Bearer {revoked}"}
    yield "an expired key", {"authorization": f"Bearer {expired}"}
    yield "a part of a key", {"authorization": f"Bearer {good[:-1]}"}
    yield "a key with more behind it", {"authorization": f"Bearer {good}x"}
    yield "a key in capitals", {"authorization": f"Bearer {good.upper()}"}
    yield "a key of another scheme", {"authorization": f"Basic {good}"}
    yield "a key without a scheme", {"authorization": good}
    yield "a key in another header", {"x-api-key": good, "cookie": f"authorization={good}"}
    yield "a key in a proxy's header", {"proxy-authorization": f"Bearer {good}"}


def without_access(service: Served, store: KeyStore, every: int = 1) -> Iterator[tuple[str, Tried]]:
    """Requests without a valid key, and with one that lacks the scope; of other forms every so many."""
    paths = sorted({operation.path for operation in OPERATIONS})
    public = {one.path for one in OPERATIONS if one.scope is KeyScope.NONE}
    connection, count = Connection(service.address), 0
    for name, headers in bad_keys(store):
        tried = Tried()
        for path in paths:
            for method in METHODS:
                allowed: tuple[int, ...] = OPEN if path in public and path != "/" else (401,)
                status = connection.status(method, filled(path, "x"), headers)
                tried.note(f"{method} {path}, {name}", status, allowed)
        yield name, tried
    tried = Tried()
    for path in paths:
        for form in FORMS:
            for method in METHODS:
                count += 1
                if count % every:
                    continue
                written = form.format(filled(path, "x"))
                allowed = (400, 401)
                # Below these paths there are only the files of the pages.
                if written.startswith(("/docs", "/page")):
                    allowed = (400, 401, 404, 405)
                if path in public and form in ("{}?x", "{}#x"):
                    allowed = (*OPEN, 400, 401)
                status = connection.status(method, written, {})
                tried.note(f"{method} {written}, no key", status, allowed)
    yield "no key, paths written otherwise", tried
    tried = Tried()
    for operation in OPERATIONS:
        if operation.scope not in ALL_SCOPES:
            continue
        key, _ = store.create(KeyGrant(scopes=ALL_SCOPES - {operation.scope}))
        headers = {"authorization": f"Bearer {key}"}
        path = filled(operation.path, "x")
        methods = {operation.method, "HEAD"} if operation.method == "GET" else {operation.method}
        for method in methods:
            status = connection.status(method, path, headers)
            tried.note(f"{method} {path}, without {operation.scope}", status, (403,))
            for form in FORMS:
                count += 1
                if count % every:
                    continue
                written = form.format(path)
                allowed = (400, 403, 404, 405)
                status = connection.status(method, written, headers)
                tried.note(f"{method} {written}, without {operation.scope}", status, allowed)
    yield "a key without the scope", tried
    connection.close()


def of_another_tenant(service: Served, store: KeyStore) -> Iterator[tuple[str, Tried]]:
    """The objects of one tenant by the key of another, which must not find them, and then by the tenant's own."""
    owner, stranger = (
        httpx2.Client(
            base_url=service.url,
            headers={"authorization": f"Bearer {store.create(KeyGrant(tenant=tenant))[0]}"},
            timeout=PATIENCE_S,
        )
        for tenant in ("owner", "stranger")
    )
    with owner, stranger:
        objects = OwnedObjects.make(owner, MODEL)
        until(lambda: owner.get(f"/v1/batches/{objects.batch}").json()["status"] == "completed")
        until(lambda: owner.get(f"/v1/jobs/{objects.job}").json()["state"] == "completed")
        for who, http in (("of another tenant", stranger), ("of its own", owner)):
            tried = Tried()
            for path, body in objects.in_bodies(MODEL):
                status = http.post(path, json=body).status_code
                tried.note(f"POST {path} {body} {who}", status, OWN if http is owner else (404,))
            for path in LISTS if http is stranger else ():
                text = http.get(path).text
                told = [name for name in objects.names if f'"{name}"' in text]
                tried.note(f"GET {path} lists {told}", 200 if told else 404, (404,))
            for operation in sorted(OPERATIONS, key=lambda one: one.method == "DELETE"):
                names = objects.in_path(operation.path)
                if operation.method == "PUT":  # writes a file of one's own
                    continue
                if operation.method == "DELETE" and http is owner:
                    names = names[:1]
                for name in names:
                    path = filled(operation.path, name)
                    status = http.request(operation.method, path).status_code
                    allowed = OWN if http is owner else (404,)
                    tried.note(f"{operation.method} {path} {who}", status, allowed)
            yield who, tried


def measure(folder: Path, every: int = 1) -> list[Figure]:
    """All of them; of the paths written otherwise every so many."""
    store = KeyStore(folder / "keys", create=True)
    settings: dict[str, Any] = {"key_store": str(folder / "keys"), "data": str(folder / "data")}
    with served(folder, examines=False, **settings) as service:
        bare = dict(without_access(service, store, every))
        foreign = dict(of_another_tenant(service, store))
    return [
        _figure("requests without a key that permits the operation", "400, 401, 403", bare),
        _figure("objects of a tenant, by its own key and another's", "404 but to its own", foreign),
    ]


def _figure(what: str, bound: str, found: Mapping[str, Tried]) -> Figure:
    wrong = [f"{name}: {one}" for name, tried in found.items() for one in tried.wrong]
    statuses = sum((tried.statuses for tried in found.values()), Counter[int]())
    return Figure(
        id="A8",
        what=f"{what} ({', '.join(found)})",
        count=statuses.total(),
        bound=bound,
        measured=f"{len(wrong)} otherwise {wrong[:5]}; {dict(sorted(statuses.items()))}",
        met=not wrong,
    )
