"""Products of one row with quantised weights on a GPU: every tile checked and timed, then layers of them.

    python -m tests.bench.bench_quant_products [--forms w4 int8 fp8] [--seconds 60] [--out FILE]

Each matrix of the 8B shape in each form, by tiles of `codes_gemv`: microseconds a product, in a CUDA graph over copies
that do not fit the L2 cache, beside the time to read the codes at the measured copy bandwidth. The result of each is
compared with the converted matrix in float64. A layer is its four products one after the other (no attention), by the
tiles of the rule and by the fastest of each product: what kernels cost each other shows there. Steps of the whole
model: `bench_quant`.
"""

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from intaglio.kernels.linear.gemv import gemv
from intaglio.kernels.quantised.codes_gemv import codes_gemv
from intaglio.kernels.quantised.codes_gemv_shape import CodesGemvShape, codes_gemv_shape
from intaglio.kernels.quantised.dequantise import dequantise
from intaglio.kernels.quantised.packed_codes import PackedCodes
from intaglio.kernels.runtime.precompile import compile_ahead

from tests.bench.bench_quant import (
    DEVICE,
    FORMS,
    MATRICES,
    Products,
    milliseconds,
    named,
    row_candidates,
)
from tests.bench.roofline import copy_bandwidth

LIMIT = 1e-2
"""The largest relative error of a product, as in `tests/gpu/test_quantised.py`."""
LAYERS = 12

Multiply = Callable[[torch.Tensor, PackedCodes, torch.Tensor], None]


@dataclass
class Row:
    """A matrix in a form: microseconds a product by each tile, the fastest first, and the largest error."""

    matrix: str
    form: str
    floor_us: float
    found: list[tuple[str, float]] = field(default_factory=list)
    worst: float = 0.0


def by_tile(one: Products, shape: CodesGemvShape) -> Multiply:
    norm = None if one.after.added else one.norm

    def multiply(x: torch.Tensor, copy: PackedCodes, out: torch.Tensor) -> None:
        codes_gemv(x, copy, None, out, norm=norm, after=one.after, shape=shape)

    return multiply


def over_copies(one: Products, multiply: Multiply, x: torch.Tensor, out: torch.Tensor) -> None:
    for copy in one.copies:
        multiply(x, copy, out)


def right(one: Products, x: torch.Tensor) -> torch.Tensor:
    """The product with the first copy in float64, before it is added to anything."""
    matrix = dequantise(one.packed, torch.float32)
    wide = x.double()
    if not one.after.added:
        wide = wide * (wide.square().mean(-1, keepdim=True) + one.norm.eps).rsqrt()
    parts = [wide @ part.double().T for part in matrix.split(4096)]
    product = torch.cat(parts, 1)
    if one.after.activation is None:
        return product
    left, up = product.chunk(2, -1)
    return torch.nn.functional.silu(left) * up


def error(one: Products, multiply: Multiply, x: torch.Tensor, exact: torch.Tensor) -> float:
    """Relative; 1 or more where an output is not written."""
    out = torch.full(exact.shape, 0.0 if one.after.added else float("nan"), device=DEVICE)
    out = out.to(torch.bfloat16)
    multiply(x, one.packed, out)
    off = float((out.double() - exact).norm() / exact.norm())
    return off if off == off else float("inf")


def tiles(one: Products) -> list[CodesGemvShape]:
    return list(dict.fromkeys(row_candidates(one.packed, one.after)))


def sweep(
    form: str, products: Mapping[str, Products], bandwidth: float, until: float
) -> Iterator[Row]:
    """Each matrix by every tile, until the time is up."""
    for name, one in products.items():
        row = Row(name, form, 1e6 * one.nbytes / bandwidth)
        x, out = one.tensors(1)
        exact = right(one, x)
        for shape in tiles(one):
            if time.perf_counter() > until:
                break
            multiply = by_tile(one, shape)
            off = error(one, multiply, x, exact)
            row.worst = max(row.worst, off)
            if off > LIMIT:
                print(f"WRONG {name} {form} {named(shape)}: {off:.2e}", flush=True)
                continue
            call = partial(over_copies, one, multiply, x, out)
            row.found.append((named(shape), 1e3 * milliseconds(call, replays=5) / len(one.copies)))
        row.found.sort(key=lambda pair: pair[1])
        best = ", ".join(f"{shape} {us:.2f}" for shape, us in row.found[:8])
        print(
            f"{name:8} {form:5} floor {row.floor_us:6.2f} ({len(row.found)} right, worst {row.worst:.1e}): {best}",
            flush=True,
        )
        yield row


def layer_us(products: Mapping[str, Products], multiplies: Mapping[str, Multiply]) -> float:
    """Microseconds of the four products of a layer, one after the other, over several layers."""
    tensors = {name: one.tensors(1) for name, one in products.items()}
    hidden, fused = tensors["qkv"][0], tensors["qkv"][1]
    # As in a layer, a product reads what the one before has written.
    through = {
        "qkv": (hidden, fused),
        "output": (fused[:, :4096], hidden),
        "gate_up": (hidden, tensors["gate_up"][1]),
        "down": (tensors["gate_up"][1], hidden),
    }

    def call() -> None:
        for layer in range(LAYERS):
            for name, one in products.items():
                x, out = through[name]
                multiplies[name](x, one.copies[layer % len(one.copies)], out)

    return 1e3 * milliseconds(call) / LAYERS


def plain_layer() -> tuple[float, float]:
    """The same for bfloat16 by `gemv`, and the bytes of a layer."""
    found: dict[str, tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]] = {}
    for name, (outputs, inputs, after) in MATRICES.items():
        count = max(2, -(-(200 << 20) // (2 * outputs * inputs)))
        matrices = [torch.randn((outputs, inputs), device=DEVICE).bfloat16() for _ in range(count)]
        out = torch.zeros((1, outputs // 2 if after.activation else outputs), device=DEVICE)
        found[name] = matrices, torch.randn((1, inputs), device=DEVICE).bfloat16(), out.bfloat16()
    norm = Products.unit_norm(4096)

    def call() -> None:
        for layer in range(LAYERS):
            for name, (matrices, x, out) in found.items():
                after = MATRICES[name][2]
                used = None if after.added else norm
                gemv(x, matrices[layer % len(matrices)], None, out, norm=used, after=after)

    compile_ahead(call)
    nbytes = 2 * sum(outputs * inputs for outputs, inputs, _ in MATRICES.values())
    return 1e3 * milliseconds(call) / LAYERS, float(nbytes)


def layers(products: Mapping[str, Products], rows: Mapping[str, Row]) -> dict[str, float]:
    """Layers by the rule, and by the fastest tile of each product."""
    by_rule, fastest = {}, {}
    for name, one in products.items():
        by_rule[name] = by_tile(one, codes_gemv_shape(one.packed, one.after, DEVICE))
        if rows[name].found:
            numbers = map(int, rows[name].found[0][0].split("/"))
            fastest[name] = by_tile(one, CodesGemvShape(*numbers))
    found = {"rule": layer_us(products, by_rule)}
    if len(fastest) == len(products):
        found["fastest"] = layer_us(products, fastest)
    return found


def passes(products: Mapping[str, Products]) -> None:
    """Each variant once, to be compiled."""
    for one in products.values():
        x, out = one.tensors(1)
        for shape in tiles(one):
            by_tile(one, shape)(x, one.packed, out)


def measured(form: str, bandwidth: float, seconds: float) -> tuple[list[Row], dict[str, float]]:
    """The products of a form, and its layers."""
    products = {name: Products(name, form) for name in MATRICES}
    began = time.perf_counter()
    count = sum(compile_ahead(partial(passes, products)).values())
    print(f"{form}: {count} kernels in {time.perf_counter() - began:.0f} s", flush=True)
    rows = list(sweep(form, products, bandwidth, time.perf_counter() + seconds))
    found = layers(products, {row.matrix: row for row in rows})
    floor = sum(row.floor_us for row in rows)
    shown = ", ".join(f"{label} {us:.1f}" for label, us in found.items())
    print(f"layer {form}: floor {floor:.1f} us; {shown}", flush=True)
    return rows, found


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for the sweeps of all forms")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.manual_seed(0)
    bandwidth = copy_bandwidth()
    torch.cuda.empty_cache()
    out: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "bandwidth": bandwidth,
        "rows": [],
    }
    us, nbytes = plain_layer()
    out["layers"] = {"bf16": {"gemv": us}}
    print(f"layer bf16: floor {1e6 * nbytes / bandwidth:.1f} us; gemv {us:.1f}", flush=True)
    for form in args.forms:
        gc.collect()
        torch.cuda.empty_cache()
        rows, out["layers"][form] = measured(form, bandwidth, args.seconds / len(args.forms))
        out["rows"] += [asdict(row) for row in rows]
        if args.out:
            args.out.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
