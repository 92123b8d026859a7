"""Train the embedded model until the clock runs out: on prose first, then on documents with questions.

    python -m train_embedded.train --tokenizer engine/embedded/tokenizer.json --real build/real --out run --minutes 22

Without `--real` there is no prose, and all documents are synthetic.

The learning rate follows a cosine of the wall clock, so the schedule ends exactly when the time does. Checkpoints
appear in `--out` every two minutes: `last/` is what the package ships (config and bf16 shards), `state.pt` all that
`--resume` needs to continue the same schedule, however the run ended. `--pause` ends a piece of a run early, for a later
`--resume`. `--start` takes only the weights of another run, or those that the package ships.

A schedule can be spread over machines that share nothing but weights: with `--part 0 0.5` the first runs its first
half, and with `--part 0.5 1 --start last` the second runs the rest. The optimisers' moments are lost; the warm-up
builds new ones. With `--devices 2` two devices of one machine train together, each on documents of its own: a step has
twice the tokens.
"""

from __future__ import annotations

import argparse
import math
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from . import feed
from .encode import Codec, load
from .model import Decoder, Shape, save, weights_of
from .muon import Muon
from .permitted import FORCED, Masks
from .ranks import ALONE, Ranks, spawn


@dataclass(frozen=True)
class Settings:
    """The settings of one training run; times are in seconds of wall clock."""

    out: Path
    seconds: float
    workers: int
    mix: feed.SampleMix
    shape: Shape
    device: str
    compiled: bool
    start: Path | None = None  # a finished model whose weights a new run begins with
    resumed: bool = False  # continue the run in `out`; `seconds` are those of all its pieces
    matrix_rate: float = 4e-3
    other_rate: float = 3e-3
    warm_steps: int = 150
    decay: float = 0.05
    prose_until: float = 0.2  # of the schedule; before it all is prose, and after it a little
    prose_after: float = 0.07
    part: tuple[float, float] = (0.0, 1.0)  # of the schedule, which `seconds` cover
    pause: float | None = None  # seconds after which this piece ends, wherever the schedule is

    def done(self, elapsed: float) -> float:
        """The share of the schedule that is over after `elapsed` seconds of its part."""
        first, last = self.part
        return first + (last - first) * min(1.0, elapsed / self.seconds)


def share_of_rate(settings: Settings, step: int, elapsed: float) -> float:
    """Warm-up by steps, then a cosine over the schedule."""
    warm = min(1.0, (step + 1) / settings.warm_steps)
    return warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * settings.done(elapsed))))


class Legal(NamedTuple):
    """The legal tokens of a batch's answers: `permitted.Masks` as tensors."""

    rows: Tensor
    places: Tensor


def answer_loss(model: Decoder, ids: Tensor, starts: Tensor, ends: Tensor, legal: Legal | None = None) -> Tensor:
    """Mean cross entropy over the answers' tokens; position p predicts token p + 1.

    With `legal`, the probabilities of a token are those among the legal ones. A forced token costs nothing, and
    counts in the mean, so that the other tokens weigh as much as in an answer without masks.
    """
    hidden = model(ids)
    place = torch.arange(ids.shape[1], device=ids.device)
    learnt = (place + 1 >= starts[:, None]) & (place + 1 < ends[:, None])
    learnt[:, -1] = False
    if legal is None:
        rows, columns = learnt.nonzero(as_tuple=True)
        logits = model.logits(hidden[rows, columns]).float()
        return F.cross_entropy(logits, ids[rows, columns + 1])
    count = learnt.sum()
    learnt[:, :-1] &= legal.places[:, 1:] != FORCED
    rows, columns = learnt.nonzero(as_tuple=True)
    logits = model.logits(hidden[rows, columns]).float()
    allowed = _unpacked(legal.rows)[:, : logits.shape[-1]][legal.places[rows, columns + 1]]
    logits = logits.masked_fill(~allowed, -math.inf)
    return F.cross_entropy(logits, ids[rows, columns + 1], reduction="sum") / count


def _unpacked(rows: Tensor) -> Tensor:
    """The bits of packed masks as truths [masks, vocabulary]."""
    bits = torch.arange(8, dtype=torch.uint8, device=rows.device)
    return ((rows[:, :, None] >> bits) & 1).bool().flatten(1)


class Training:
    """The model, its optimisers and their progress: everything that a step changes."""

    def __init__(self, settings: Settings, ranks: Ranks = ALONE) -> None:
        self.settings, self.ranks = settings, ranks
        self.device = torch.device(settings.device)
        self.model = Decoder(settings.shape).to(self.device)
        matrices = [weight for weight in self.model.layers.parameters() if weight.dim() == 2]
        known = {id(weight) for weight in matrices}
        self.others = [weight for weight in self.model.parameters() if id(weight) not in known]
        self.muon = Muon(matrices, settings.decay)
        fused = self.device.type == "cuda"
        self.adam = torch.optim.AdamW(
            self.others, lr=settings.other_rate, betas=(0.9, 0.98), weight_decay=0.0, fused=fused
        )
        self.step, self.seen, self.piece, self.elapsed = 0, 0, 0, 0.0
        self.masked = self.refused = 0  # documents of this piece with masks, and with an answer that is not legal
        if settings.start:
            self.model.load_state_dict(weights_of(settings.start))  # of this shape; the run is a new one
        if settings.resumed:
            self._restore()
        ranks.copy_first(self.model.parameters())
        if settings.compiled:
            torch._dynamo.config.recompile_limit = 2 * len(feed.LENGTHS)  # one program a length
            for layer in self.model.layers:
                layer.compile(dynamic=False)

    def learn(self, batch: feed.Batch) -> Tensor:
        """One step on a batch; its loss."""
        ids = torch.from_numpy(batch.ids.astype("int64")).to(self.device, non_blocking=True)
        starts = torch.from_numpy(batch.starts).to(self.device)
        ends = torch.from_numpy(batch.ends).to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            loss = answer_loss(self.model, ids, starts, ends, self._legal(batch.masks))
        torch.autograd.backward(loss)
        self.ranks.average(self.model.parameters())
        torch.nn.utils.clip_grad_norm_(self.others, 1.0)
        share = share_of_rate(self.settings, self.step, self.elapsed)
        self.muon.lr = self.settings.matrix_rate * share
        self.adam.param_groups[0]["lr"] = self.settings.other_rate * share
        self.muon.step()
        self.adam.step()
        self.model.zero_grad(set_to_none=True)
        self.seen, self.step = self.seen + ids.numel() * self.ranks.count, self.step + 1
        return loss.detach()

    def _legal(self, masks: Masks | None) -> Legal | None:
        """The masks of a batch on the device; counts its documents."""
        if masks is None:
            return None
        self.masked, self.refused = self.masked + masks.documents, self.refused + masks.refused
        rows = torch.from_numpy(masks.rows).to(self.device, non_blocking=True)
        return Legal(rows, torch.from_numpy(masks.places).to(self.device, non_blocking=True))

    def checkpoint(self, codec: Codec) -> None:
        """Write what ships, and the state from which the run can be resumed; each replaces the last one when complete."""
        out = self.settings.out
        fresh, last = out / "fresh", out / "last"
        save(fresh, self.settings.shape, self.model.state_dict(), codec.end, codec.pad)
        state = {
            "model": self.model.state_dict(),
            "muon": self.muon.moments,
            "adam": self.adam.state_dict(),
            "progress": (self.step, self.seen, self.piece, self.elapsed),
        }
        torch.save(state, out / "state.fresh")
        (out / "state.fresh").rename(out / "state.pt")
        if last.exists():
            shutil.rmtree(last)
        fresh.rename(last)

    def _restore(self) -> None:
        """Continue from the last checkpoint of this run, with other documents."""
        state = torch.load(self.settings.out / "state.pt", map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.muon.moments = state["muon"]
        self.adam.load_state_dict(state["adam"])
        self.step, self.seen, self.piece, self.elapsed = state["progress"]
        self.piece += 1


def run(
    settings: Settings, ranks: Ranks = ALONE, feed_of: Callable[[feed.SampleMix, int], feed.Feed] = feed.start
) -> None:
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    (settings.out / "done").unlink(missing_ok=True)
    if settings.device == "cuda":
        settings = replace(settings, device=f"cuda:{ranks.rank}")
    training = Training(settings, ranks)
    mix = replace(settings.mix, piece=settings.mix.piece + training.piece, rank=ranks.rank, ranks=ranks.count)
    batches = feed_of(mix, settings.workers)
    codec = Codec.of(load(settings.mix.tokenizer))
    size = sum(weight.numel() for weight in training.model.parameters())
    if ranks.rank == 0:
        print(f"{size / 1e6:.2f} M parameters on {ranks.count} x {training.device}", flush=True)
    before = training.elapsed
    until = settings.seconds if settings.pause is None else min(settings.seconds, before + settings.pause)
    began = saved = shown = time.monotonic()
    sums = torch.zeros(2, device=training.device)
    while training.elapsed < until:
        if settings.mix.real and settings.done(training.elapsed) >= settings.prose_until:
            batches.prose_share.value = settings.prose_after
        loss = training.learn(batches.batch())
        sums += torch.stack((loss, torch.ones_like(loss)))
        now = time.monotonic()
        training.elapsed = ranks.elapsed(before + now - began)
        if now - shown > 5:
            batches.check()
            if ranks.rank == 0:
                _show(training, batches, sums.tolist(), now - shown)
            sums.zero_()
            shown = now
        if now - saved > 120 and ranks.rank == 0:
            training.checkpoint(codec)
            saved = now
    if ranks.rank:
        return
    training.checkpoint(codec)
    over = training.elapsed >= settings.seconds
    state = "done" if over else f"paused at {settings.done(training.elapsed):.0%}"
    print(f"{state}: {training.step} steps, {training.seen / 1e9:.2f} G tokens{_masked(training)}", flush=True)
    if over:
        (settings.out / "done").touch()


def _show(training: Training, batches: feed.Feed, sums: list[float], seconds: float) -> None:
    """A line about the last seconds: loss, speed, batches that wait, rate of learning."""
    total, count = sums
    speed = count * training.ranks.count * training.settings.mix.tokens / seconds / 1e6
    place = f"{training.elapsed:6.0f}s step {training.step} loss {total / count:.4f}"
    print(
        f"{place} {speed:.2f} Mtok/s queue {batches.queue.qsize()} lr {training.muon.lr:.5f}{_masked(training)}",
        flush=True,
    )


def _masked(training: Training) -> str:
    """How many documents were learnt under their masks, if any should be; of rank 0 alone."""
    if not training.settings.mix.masked:
        return ""
    return f", {training.masked} documents masked, {training.refused} not legal"


def _part(parser: argparse.ArgumentParser, first: float, last: float) -> tuple[float, float]:
    if not 0 <= first < last <= 1:
        parser.error(f"--part {first} {last}: 0 <= FROM < UNTIL <= 1 is needed")
    return first, last


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Train the embedded model.")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--tokens", type=int, default=131_072)
    parser.add_argument("--real", type=Path, help="what train_embedded.real.build wrote")
    parser.add_argument("--hidden", type=int, default=Shape.hidden_size)
    parser.add_argument("--layers", type=int, default=Shape.num_hidden_layers)
    parser.add_argument("--gate", type=int, default=Shape.intermediate_size)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--devices", type=int, default=1, help="devices that train together, each with its --workers")
    parser.add_argument("--eager", action="store_true", help="do not compile the layers")
    parser.add_argument("--start", type=Path, help="begin with the weights of this folder")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the run in --out; --minutes are those of all its pieces"
    )
    parser.add_argument("--pause", type=float, help="minutes after which this piece ends; --resume goes on")
    parser.add_argument(
        "--prose-until", type=float, default=Settings.prose_until, help="share of the schedule that is prose alone"
    )
    parser.add_argument(
        "--prose-after", type=float, default=Settings.prose_after, help="share of prose among the batches after that"
    )
    parser.add_argument(
        "--part",
        type=float,
        nargs=2,
        default=Settings.part,
        metavar=("FROM", "UNTIL"),
        help="the part of the schedule, between 0 and 1, that this machine runs in --minutes",
    )
    parser.add_argument("--piece", type=int, default=0, help="number of the machine: each has documents of its own")
    parser.add_argument("--rate", type=float, default=1.0, help="factor on the learning rates, for a run with --start")
    parser.add_argument(
        "--recorded", type=float, default=feed.SampleMix.recorded, help="share of records of real documents"
    )
    parser.add_argument(
        "--printed", type=float, default=feed.SampleMix.printed, help="share of documents as machines print them"
    )
    parser.add_argument(
        "--asked", type=float, default=feed.SampleMix.asked, help="share of real passages with questions"
    )
    parser.add_argument(
        "--written", type=float, default=feed.SampleMix.written, help="share of documents written one by one"
    )
    parser.add_argument(
        "--masked",
        type=float,
        default=feed.SampleMix.masked,
        help="share of documents learnt among the tokens that their schema allows",
    )
    return parser


def _settings(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> Settings:
    """The settings of the run that the arguments describe."""
    mix = feed.SampleMix(
        chosen.tokenizer,
        chosen.tokens,
        chosen.real,
        chosen.recorded,
        chosen.printed,
        chosen.asked,
        chosen.written,
        chosen.piece,
        masked=chosen.masked,
    )
    shape = Shape(
        hidden_size=chosen.hidden,
        intermediate_size=chosen.gate,
        num_hidden_layers=chosen.layers,
        num_attention_heads=chosen.hidden // Shape.head_dim,
    )
    return Settings(
        out=chosen.out,
        seconds=chosen.minutes * 60,
        workers=chosen.workers,
        mix=mix,
        shape=shape,
        device=chosen.device,
        compiled=not chosen.eager and chosen.device != "cpu",
        start=chosen.start,
        resumed=chosen.resume,
        prose_until=chosen.prose_until,
        prose_after=chosen.prose_after,
        part=_part(parser, *chosen.part),
        pause=None if chosen.pause is None else chosen.pause * 60,
        matrix_rate=Settings.matrix_rate * chosen.rate,
        other_rate=Settings.other_rate * chosen.rate,
    )


def main() -> None:
    """Train as the command line says."""
    parser = _parser()
    chosen = parser.parse_args()
    settings = _settings(parser, chosen)
    settings.out.mkdir(parents=True, exist_ok=True)
    spawn(partial(run, settings), chosen.devices)


if __name__ == "__main__":
    main()
