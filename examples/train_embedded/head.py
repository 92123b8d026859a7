"""Train a draft head for the embedded model, on the documents that `train` learns from.

    python -m train_embedded.head --target engine/embedded --out head --minutes 10

The head has the form of a published EAGLE-3 head (`head_model`), for `--drafts head:FOLDER`. The target stays as it is:
the head learns its distribution of each token of the answers, not the tokens themselves. A chain of `--steps` drafts is
trained on the head's own outputs, as it is used (training-time test). Prompts are read and not learnt.

Each line says how often the most likely draft is the target's most likely token, by its place in the chain.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from . import feed
from .head_model import Head, HeadShape, draft_loss, picked, save
from .model import Decoder, Shape, weights_of

LATER = 0.8
"""The weight of a step relative to the one before it, as in the paper."""


@dataclass(frozen=True)
class HeadSettings:
    """The settings of one run; times are in seconds of wall clock."""

    target: Path
    out: Path
    seconds: float
    mix: feed.SampleMix
    workers: int = 1
    device: str = "cpu"
    vocabulary: int = 2048
    counted: int = 30  # batches whose answers decide which tokens the head predicts
    steps: int = 4
    rate: float = 1e-3
    warm_steps: int = 10


class HeadTraining:
    """A frozen target, a head, its optimiser, and their progress."""

    def __init__(self, settings: HeadSettings, tokens: Tensor) -> None:
        self.settings, self.device = settings, torch.device(settings.device)
        shape = shape_of(settings.target)
        self.target = Decoder(shape).to(self.device).requires_grad_(requires_grad=False)
        self.target.load_state_dict(weights_of(settings.target))
        self.shape = HeadShape(shape, len(tokens))
        self.head = Head(self.shape, tokens).to(self.device)
        self.head.begin_as(self.target)
        self.adam = torch.optim.AdamW(self.head.parameters(), lr=settings.rate, betas=(0.9, 0.98), weight_decay=0.0)
        self.step, self.elapsed = 0, 0.0

    def learn(self, batch: feed.Batch) -> tuple[float, Tensor]:
        """One step on a batch: its loss, and the share of agreement by place in the chain [steps]."""
        loss, agreed = self.measured(batch)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.head.parameters(), 1.0)
        warm = min(1.0, (self.step + 1) / self.settings.warm_steps)
        done = min(1.0, self.elapsed / self.settings.seconds)
        share = warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))
        self.adam.param_groups[0]["lr"] = self.settings.rate * share
        self.adam.step()
        self.head.zero_grad(set_to_none=True)
        self.step += 1
        return float(loss.detach()), agreed

    def measured(self, batch: feed.Batch) -> tuple[Tensor, Tensor]:
        """The loss on a batch, with its gradients, and the agreement; see `learn`."""
        ids, starts, ends = (
            torch.from_numpy(array.astype("int64")).to(self.device) for array in (batch.ids, batch.starts, batch.ends)
        )
        steps = self.settings.steps
        with torch.no_grad():
            hidden, entering = self.target.streams(ids, self.shape.streams)
            embedded = self.target.embed_tokens(ids)
        # A chain begins at each row from which an answer's token is the next but one.
        begins = (starts - 2).clamp(min=0)
        count = int((ends - 2 - begins).max())
        rows = begins[:, None] + torch.arange(count + steps, device=self.device)
        last = ids.shape[1] - 1
        with torch.no_grad():
            answered = picked(hidden, (rows + 1).clamp(max=last))
            wanted = answered @ self.target.embed_tokens.weight[self.head.tokens].T
        chains = self.head.unrolled(embedded, torch.cat(entering, -1), rows[:, :count].clamp(max=last), steps)
        loss, agreed, weights = torch.zeros((), device=self.device), [], 0.0
        for step, logits in enumerate(chains):
            there = rows[:, step : count + step] + 2 < ends[:, None]
            goal = wanted[:, step : count + step]
            loss = loss + LATER**step * draft_loss(logits, goal, there)
            weights += LATER**step
            agreed.append((logits.argmax(-1) == goal.argmax(-1))[there].float().mean())
        return loss / weights, torch.stack(agreed).detach()


def shape_of(folder: Path) -> Shape:
    """The sizes of a trained model."""
    known = json.loads((folder / "config.json").read_text())
    return Shape(**{field.name: known[field.name] for field in fields(Shape)})


def draft_tokens(batches: list[feed.Batch], count: int, vocabulary: int) -> Tensor:
    """The `count` tokens that occur most often in the answers of `batches`, ascending; the first ones where none do."""
    seen = np.zeros(vocabulary, np.int64)
    for batch in batches:
        for ids, start, end in zip(batch.ids, batch.starts, batch.ends, strict=True):
            seen += np.bincount(ids[start:end], minlength=vocabulary)
    chosen = np.argsort(-seen, kind="stable")[:count]
    return torch.from_numpy(np.sort(chosen).astype(np.int64))


def run(settings: HeadSettings, feed_of: Callable[[feed.SampleMix, int], feed.Feed] = feed.start) -> HeadTraining:
    """Train until the time is over, and write the head; it is also written every two minutes."""
    torch.manual_seed(1)
    batches = feed_of(settings.mix, settings.workers)
    batches.prose_share.value = 0.0
    first = [batches.batch() for _ in range(settings.counted)]
    tokens = draft_tokens(first, settings.vocabulary, shape_of(settings.target).vocab_size)
    training = HeadTraining(settings, tokens)
    size = sum(weight.numel() for weight in training.head.parameters())
    print(f"{size / 1e6:.2f} M parameters, {len(tokens)} tokens", flush=True)
    began = saved = time.monotonic()
    shown, sums, losses = began, torch.zeros(settings.steps), 0.0
    before = 0
    while training.elapsed < settings.seconds:
        loss, agreed = training.learn(first.pop() if first else batches.batch())
        losses, sums = losses + loss, sums + agreed.cpu()
        now = time.monotonic()
        training.elapsed = now - began
        if now - shown > 10:
            count = training.step - before
            places = " ".join(f"{share:.3f}" for share in (sums / count).tolist())
            print(
                f"{training.elapsed:6.0f}s step {training.step} loss {losses / count:.4f} agreed {places}", flush=True
            )
            shown, before, losses, sums = now, training.step, 0.0, torch.zeros(settings.steps)
        if now - saved > 120:
            save(settings.out, training.head)
            saved = now
    save(settings.out, training.head)
    return training


def main() -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description="Train a draft head for the embedded model.")
    parser.add_argument("--target", type=Path, required=True, help="the folder of the model that it drafts for")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--real", type=Path, help="what train_embedded.real.build wrote")
    parser.add_argument("--workers", type=int, default=HeadSettings.workers)
    parser.add_argument("--tokens", type=int, default=feed.LENGTHS[-1], help="tokens of a batch")
    parser.add_argument("--vocabulary", type=int, default=HeadSettings.vocabulary, help="tokens that it predicts")
    parser.add_argument("--steps", type=int, default=HeadSettings.steps, help="drafts of a chain")
    parser.add_argument("--written", type=float, default=0.3, help="share of documents written one by one")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    chosen = parser.parse_args()
    mix = feed.SampleMix(chosen.target / "tokenizer.json", chosen.tokens, chosen.real, written=chosen.written)
    run(
        HeadSettings(
            chosen.target,
            chosen.out,
            chosen.minutes * 60,
            mix,
            chosen.workers,
            chosen.device,
            chosen.vocabulary,
            steps=chosen.steps,
        )
    )


if __name__ == "__main__":
    main()
