"""`intaglio serve` as a program: the banner's command line works, the client gets results, Ctrl-C ends it in order."""

import json
import queue
import shlex
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from intaglio import Client, SchemaRefused, TooLong
from intaglio.schemas import catalogue
from intaglio.service.client import BadRequest, NotFound
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from tests.service.cli.conftest import Run, start
from tests.support.tiny_checkpoint import QWEN2, write_checkpoint


@dataclass
class Running:
    """A server as its user has it: the process and what it wrote when it listened."""

    process: "subprocess.Popen[str]"
    banner: str
    url: str


class Page(BaseModel):
    number: int = Field(ge=1, le=9)
    printed: bool


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    config = {**QWEN2, "max_position_embeddings": 2048}
    model = write_checkpoint(tmp_path_factory.mktemp("model") / "tiny", config)
    process = start("serve", "-m", model, "--port", "0", "--max-running", "4", "--threads", "1")
    assert process.stderr is not None
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in process.stderr or ():
            lines.put(line)

    reader = threading.Thread(target=read)
    reader.start()
    banner = ""
    while "Ctrl-C" not in banner:
        banner += lines.get(timeout=120)
    url = banner.partition("· http")[2].split()[0]
    try:
        yield Running(process, banner, f"http{url}")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(120)
        reader.join(120)
        assert process.stdout is not None
        process.stdout.close()
        process.stderr.close()


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[Client]:
    with Client(server.url) as client:
        client.wait_until_ready(300)
        yield client


def test_the_client_gets_typed_results(client: Client) -> None:
    page = client.extract(Page, "page 3, printed")
    assert isinstance(page.data, Page)
    assert page.valid
    assert page.model == "tiny"
    assert page.usage.output_tokens > 0
    assert page.request_id
    assert client.extract(Page, "page 3, printed").data == page.data


def test_the_client_asks_the_service_about_itself(client: Client) -> None:
    (card,) = client.models()
    assert (card.id, card.context_length) == ("tiny", 2048)
    assert client.health().status == "ok"
    assert client.ready()
    assert client.version().model == "tiny"


def test_errors_of_the_service_are_errors_of_the_client(client: Client) -> None:
    with pytest.raises(SchemaRefused) as refused:
        client.extract({"type": "array", "items": {"$ref": "other.json"}}, "text")
    assert refused.value.details[0].pointer == "/schema/items/$ref"
    assert refused.value.details[0].hint
    assert refused.value.request_id
    with pytest.raises(TooLong, match="tokens"):
        client.extract(Page, "word " * 3000)
    with pytest.raises(NotFound, match="invoice"):
        client.extract("invoise", "text")
    with pytest.raises(BadRequest, match="temperature"):
        client.extract(Page, "text", temperature=-1.0)


def test_the_command_line_in_the_banner_works(server: Running, client: Client) -> None:
    line = next(line for line in server.banner.splitlines() if "curl" in line)
    curl, silent, url, h, header, d, body = shlex.split(line)
    assert (curl, silent, h, d) == ("curl", "-s", "-H", "-d")
    name, _, value = header.partition(": ")
    answer = httpx2.post(url, headers={name: value}, content=body.encode(), timeout=120)
    request = json.loads(body)
    # Random weights may never close a string; then the answer says so, and is no half document.
    assert answer.status_code in (200, 422)
    if answer.status_code == 200:
        schema = catalogue.get(request["schema"]).schema
        Draft202012Validator(schema).validate(answer.json()["data"])
    else:
        assert answer.json()["error"]["code"] == "incomplete"


def test_ctrl_c_ends_it_in_order(server: Running, client: Client) -> None:
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(120) == 130


def test_what_cannot_start_says_why(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for args, words in (
        (("-m", tmp_path / "empty"), "is empty"),
        (("-m", tmp_path / "nowhere"), "no folder"),
    ):
        refused = run("serve", "--port", "0", *args)
        assert refused.exit_code == 4
        assert words in refused.stderr
        assert "Traceback" not in refused.stderr


def test_an_address_or_a_folder_that_cannot_be_had_is_said_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for args, status, words in (
            (("--data", tmp_path / "file"), 2, "data folder"),
            (("--data", tmp_path / "file" / "below"), 2, "data folder"),
            (("--port", port), 4, f"port {port} of 127.0.0.1 is in use"),
            (("--allow-anonymous", "--host", "192.0.2.1"), 4, "no address 192.0.2.1"),
        ):
            process = start("serve", *(("--port", "0") if "--port" not in args else ()), *args)
            out, err = process.communicate(timeout=120)
            assert process.returncode == status, err
            assert words in err
            assert "hint:" in err
            assert "Traceback" not in err
            assert out == ""
