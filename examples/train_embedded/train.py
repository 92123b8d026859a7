"""Train the embedded model until the clock runs out: on prose first, then on documents with questions.

    python -m train_embedded.train --tokenizer engine/embedded/tokenizer.json --real build/real --out run --minutes 22

Without `--real` there is no prose, and all documents are synthetic.

The learning rate follows a cosine of the wall clock, so the schedule ends exactly when the time does.
Checkpoints (what the package ships: config and bf16 shards) appear in `--out` every two minutes.
"""

from __future__ import annotations

import argparse
import math
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from . import feed
from .encode import Codec, load
from .model import Decoder, Shape, save
from .muon import Muon


@dataclass(frozen=True)
class Settings:
    """What one training run is made of; times in seconds of wall clock."""

    out: Path
    seconds: float
    workers: int
    diet: feed.Diet
    shape: Shape
    device: str
    compiled: bool
    matrix_rate: float = 4e-3
    other_rate: float = 3e-3
    warm_steps: int = 150
    decay: float = 0.05
    prose_until: float = 0.2  # of the time; before it all is prose, and after it a little
    prose_after: float = 0.07


def share_of_rate(settings: Settings, step: int, elapsed: float) -> float:
    """Warm-up by steps, then a cosine over the time that is left."""
    done = min(1.0, elapsed / settings.seconds)
    warm = min(1.0, (step + 1) / settings.warm_steps)
    return warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))


def answer_loss(model: Decoder, ids: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Cross entropy over the answers' tokens; position p predicts token p + 1."""
    hidden = model(ids)
    place = torch.arange(ids.shape[1], device=ids.device)
    learnt = (place + 1 >= starts[:, None]) & (place + 1 < ends[:, None])
    learnt[:, -1] = False
    rows, columns = learnt.nonzero(as_tuple=True)
    logits = model.logits(hidden[rows, columns]).float()
    return F.cross_entropy(logits, ids[rows, columns + 1])


def run(settings: Settings) -> None:
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    queue, prose_share = feed.start(settings.diet, settings.workers)
    codec = Codec.of(load(settings.diet.tokenizer))
    device = torch.device(settings.device)
    model = Decoder(settings.shape).to(device)
    if settings.compiled:
        torch._dynamo.config.recompile_limit = 2 * len(feed.LENGTHS)  # one program a length
        for layer in model.layers:
            layer.compile(dynamic=False)
    matrices = [weight for weight in model.layers.parameters() if weight.dim() == 2]
    known = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in known]
    muon = Muon(matrices, settings.decay)
    adam = torch.optim.AdamW(
        others, lr=settings.other_rate, betas=(0.9, 0.98), weight_decay=0.0, fused=device.type == "cuda"
    )
    size = sum(weight.numel() for weight in model.parameters())
    print(f"{size / 1e6:.2f} M parameters on {device}", flush=True)
    began = saved = shown = time.monotonic()
    seen = step = 0
    sums = torch.zeros(2, device=device)
    while time.monotonic() - began < settings.seconds:
        batch = queue.get()
        ids = torch.from_numpy(batch.ids.astype("int64")).to(device, non_blocking=True)
        starts = torch.from_numpy(batch.starts).to(device)
        ends = torch.from_numpy(batch.ends).to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            loss = answer_loss(model, ids, starts, ends)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        share = share_of_rate(settings, step, time.monotonic() - began)
        muon.lr = settings.matrix_rate * share
        adam.param_groups[0]["lr"] = settings.other_rate * share
        muon.step()
        adam.step()
        model.zero_grad(set_to_none=True)
        sums += torch.stack((loss.detach(), torch.ones_like(loss)))
        seen, step = seen + ids.numel(), step + 1
        now = time.monotonic()
        if settings.diet.real and now - began > settings.prose_until * settings.seconds:
            prose_share.value = settings.prose_after
        if now - shown > 5:
            mean, count = sums.tolist()
            rate = count * settings.diet.tokens / (now - shown) / 1e6
            print(
                f"{now - began:6.0f}s step {step} loss {mean / count:.4f} {rate:.2f} Mtok/s queue {queue.qsize()} lr {muon.lr:.5f}",
                flush=True,
            )
            sums.zero_()
            shown = now
        if now - saved > 120:
            checkpoint(settings, model, codec)
            saved = now
    checkpoint(settings, model, codec)
    print(f"done: {step} steps, {seen / 1e9:.2f} G tokens", flush=True)
    (settings.out / "done").touch()


def checkpoint(settings: Settings, model: Decoder, codec: Codec) -> None:
    """Write a whole checkpoint beside the last one, then put it in its place."""
    fresh = settings.out / "fresh"
    save(fresh, settings.shape, model.state_dict(), codec.end, codec.pad)
    last = settings.out / "last"
    if last.exists():
        shutil.rmtree(last)
    fresh.rename(last)


def main() -> None:
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
    parser.add_argument("--eager", action="store_true", help="do not compile the layers")
    chosen = parser.parse_args()
    shape = Shape(
        hidden_size=chosen.hidden,
        intermediate_size=chosen.gate,
        num_hidden_layers=chosen.layers,
        num_attention_heads=chosen.hidden // Shape.head_dim,
    )
    chosen.out.mkdir(parents=True, exist_ok=True)
    run(
        Settings(
            out=chosen.out,
            seconds=chosen.minutes * 60,
            workers=chosen.workers,
            diet=feed.Diet(chosen.tokenizer, chosen.tokens, chosen.real),
            shape=shape,
            device=chosen.device,
            compiled=not chosen.eager and chosen.device != "cpu",
        )
    )


if __name__ == "__main__":
    main()
