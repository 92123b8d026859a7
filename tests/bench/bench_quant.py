"""Steps of the 8B shape with quantised weights against bfloat16, on a GPU: one table, and the tiles that are fastest.

    python -m tests.bench.bench_quant [--out FILE] [--layers 32] [--seconds 220] [--no-tiles]
        [--forms int8 fp8 w4] [--rows 1 64] [--steps 1 64 512 prompts] [--context 512]

Random weights of the layers in each form, the head in bfloat16. A step is the forward pass and the logits, replayed as
a CUDA graph for 1, 64 and 512 sequences with a context of 512 tokens (or of `--context`), and launched for eight
prompts of 1,024 tokens: medians. The floor is the bytes of weights, scales and keys over the measured copy bandwidth.
Before that, each matrix of a layer is multiplied with tiles of several shapes, over copies that do not fit the L2
cache; the steps use the fastest of them. Two minutes are the compiler's, for two hundred variants.
"""

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.schemes.coded import Coded
from intaglio.engine.model.schemes.scheme import Part, Scheme, Stored, Uniform
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.weights import random_decoder
from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import (
    Activation,
    AddTo,
    Epilogue,
    Gate,
    HostRagged,
    Ragged,
    RmsNorm,
    Weight,
)
from intaglio.kernels.gpu import COUNTERS, GpuKernels
from intaglio.kernels.linear.epilogue import ADDED, GATED, NOTHING, After
from intaglio.kernels.linear.linear import by_library, finish
from intaglio.kernels.linear.rms_norm import rms_norm
from intaglio.kernels.quantised.activations import quantised_rows
from intaglio.kernels.quantised.coded_weight import CodedWeight, TileRules
from intaglio.kernels.quantised.codes_gemv import codes_gemv
from intaglio.kernels.quantised.codes_gemv_shape import (
    CodesGemvShape,
    codes_gemv_shape,
    row_vectors,
)
from intaglio.kernels.quantised.dequantise import dequantise
from intaglio.kernels.quantised.narrow_codes import (
    NARROW_ROWS,
    NarrowCodesShape,
    narrow_codes,
    narrow_codes_shape,
)
from intaglio.kernels.quantised.packed_codes import CodeKind, PackedCodes, packed
from intaglio.kernels.quantised.scaled_tiles import (
    ScaledTilesShape,
    scaled_tiles,
    scaled_tiles_shape,
)
from intaglio.kernels.quantised.skinny_codes import (
    SkinnyCodesShape,
    skinny_codes,
    skinny_codes_shape,
)
from intaglio.kernels.runtime.precompile import compile_ahead

from tests.bench.roofline import copy_bandwidth

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 151_936,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
}
BLOCK, CONTEXT, PROMPTS, PROMPT = 16, 512, 8, 1024
ROWS = (1, 64, 512)
KINDS = (*map(str, ROWS), "prompts")
"""The steps that are timed: by number of sequences, and prompts."""
MATRICES = {
    "qkv": (6144, 4096, NOTHING),
    "output": (4096, 4096, ADDED),
    "gate_up": (28672, 4096, GATED[Activation.SILU]),
    "down": (4096, 14336, ADDED),
}
FORMS = {"w4": (4, 128), "int8": (8, None), "fp8": (0, None)}
"""Bits and group size of each form."""
GOALS = {"fp8": (2.2, 4.2, 1.6), "int8": (2.3, 4.4, 1.4), "w4": (1.45, 4.2, 1 / 1.05)}
"""Milliseconds at most for 1 and 64 rows; times the speed of bfloat16 at least for prompts."""
COPIES_BYTES = 200 << 20
DEVICE = torch.device("cuda")


@dataclass(frozen=True)
class Drawn(Coded):
    """A scheme of random codes of `bits` bits, 0 for floats, in symmetric groups."""

    bits: int
    group_size: int | None

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        kind = torch.uint8 if self.bits else torch.float8_e4m3fn
        return {".codes": Stored((outputs, inputs), kind)}

    def codes(self, part: Part) -> Codes:
        return self.of(part(".codes"))

    def of(self, values: torch.Tensor) -> Codes:
        """Codes of random bytes [outputs, inputs], or floats."""
        outputs, inputs = values.shape
        size = self.group_size or inputs
        scales = torch.rand((outputs, inputs // size), device=values.device) + 0.5
        scales = (scales * 0.02 / 2 ** max(self.bits - 2, 0)).to(torch.bfloat16).float()
        zeros = None
        if self.bits:
            values, zeros = (
                values & (2**self.bits - 1),
                torch.full_like(scales, 2.0 ** (self.bits - 1)),
            )
        return Codes(values, scales, zeros, size, self.bits, None, activations=self.bits != 4)


@dataclass(frozen=True)
class Tiles:
    """A shape of tiles, and microseconds a product: of each candidate, the fastest first."""

    matrix: str
    form: str
    rows: int
    floor_us: float
    found: list[tuple[str, float]] = field(default_factory=list)


Shape = CodesGemvShape | NarrowCodesShape | SkinnyCodesShape | ScaledTilesShape


def candidates(rows: int, packed: PackedCodes, after: After) -> Iterator[Shape]:
    """Shapes around those by the rules, of the kernel that is used for so many rows."""
    x = torch.empty((rows, 1), dtype=torch.bfloat16, device=packed.codes.device)
    if rows == 1:
        yield from row_candidates(packed, after)
    elif rows <= NARROW_ROWS and after.activation is None:
        yield narrow_codes_shape(x, packed)
        for slices, block_out, warps in (
            (4, 16, 4), (4, 32, 4), (8, 16, 8), (8, 32, 8), (8, 16, 4), (2, 32, 4), (4, 64, 8), (2, 16, 2),
        ):  # fmt: skip
            for stages in (2, 3, 4):
                yield NarrowCodesShape(slices, block_out, stages, warps)
    elif packed.activations and rows > NARROW_ROWS:
        yield scaled_tiles_shape(rows, packed, after)
        if rows <= 64:
            for block_out, stages, warps in (
                (32, 4, 4), (32, 8, 4), (64, 4, 4), (64, 6, 4), (128, 4, 4), (128, 6, 8), (16, 8, 4),
            ):  # fmt: skip
                for block_in in (128, 256):
                    yield ScaledTilesShape(64, block_out, block_in, stages, warps)
        else:
            for block_rows, block_out, stages, warps in (
                (128, 256, 3, 8), (128, 256, 4, 8), (128, 128, 4, 4), (128, 128, 4, 8), (256, 128, 3, 8),
                (64, 256, 4, 4), (64, 128, 5, 4),
            ):  # fmt: skip
                yield ScaledTilesShape(block_rows, block_out, 128, stages, warps)
    else:
        rule = skinny_codes_shape(x, packed, after)
        yield rule
        for block_out, warps in ((64, 4), (128, 8), (256, 8)):
            for splits in (1, 2, 4, 8) if rows <= 64 else (1, 2):
                for stages in (2, 3):
                    yield replace(
                        rule, block_out=block_out, warps=warps, splits=splits, stages=stages
                    )


def row_candidates(packed: PackedCodes, after: After) -> Iterator[CodesGemvShape]:
    """Tiles of one row that fit the registers, and whose last slice is nearly full."""
    yield codes_gemv_shape(packed, after, packed.codes.device)
    matrices = 2 if after.activation else 1
    vectors = row_vectors(packed)
    for block_rows in (4, 8, 16):
        for warps in (1, 2, 4, 8):
            slices = -(-vectors // (32 * warps))
            waste = slices * 32 * warps / vectors
            many = (block_rows == 16 and warps == 8) or (block_rows == 4 and warps == 1)
            if waste < 1.15 and slices <= (7 if vectors > 256 else 4) and not many:
                yield CodesGemvShape(block_rows // matrices, warps)


def fits(shape: Shape, packed: PackedCodes, after: After) -> bool:
    """Whether the pipeline of a program fits the shared memory, and there are neither few nor many programs."""
    chunk, matrices = 2 * packed.part, 2 if after.activation else 1
    chunk_bytes = chunk * 2 // packed.kind.in_word
    written = packed.outputs // matrices
    if isinstance(shape, CodesGemvShape):
        return True
    if isinstance(shape, NarrowCodesShape):
        stage = shape.slices * (shape.block_out * matrices * chunk_bytes + 16 * chunk)
        return shape.stages * stage <= 200_000 and packed.padded // chunk % shape.slices == 0
    if isinstance(shape, ScaledTilesShape):
        return shape.stages * (shape.block_rows + shape.block_out) * shape.block_in <= 200_000
    stage = shape.block_out * matrices * chunk_bytes + shape.block_rows * chunk * 2
    busy = written // shape.block_out * shape.splits
    return shape.stages * stage <= 220_000 and (shape.block_rows > 64 or 60 <= busy <= 900)


def milliseconds(call: Callable[[], object], *, graph: bool = True, replays: int = 7) -> float:
    """Median time of a call."""
    call()
    torch.cuda.synchronize()
    run = call
    if graph:
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            call()
        run = captured.replay
    times: list[float] = []
    for _ in range(replays + 1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[1:])


class Products:
    """The products of one matrix in one form, over copies that do not fit the L2 cache."""

    def __init__(self, name: str, form: str) -> None:
        self.outputs, self.inputs, self.after = MATRICES[name]
        bits, group = FORMS[form]
        scheme = Drawn(bits, group)
        values = torch.randint(
            0, 256, (self.outputs, self.inputs), dtype=torch.uint8, device=DEVICE
        )
        if not bits:
            values = torch.randn((self.outputs, self.inputs), device=DEVICE).to(torch.float8_e4m3fn)
        first = packed([scheme.of(values)])
        assert first is not None
        self.packed, self.nbytes = first, first.codes.nbytes + first.scales.nbytes
        count = max(2, -(-COPIES_BYTES // self.nbytes))
        self.copies = [first]
        for _ in range(count - 1):
            self.copies.append(
                replace(first, codes=first.codes.clone(), scales=first.scales.clone())
            )
        self.counters = torch.zeros(COUNTERS, dtype=torch.int32, device=DEVICE)
        self.norm = self.unit_norm(self.inputs)

    @staticmethod
    def unit_norm(inputs: int) -> RmsNorm:
        """A norm with weights of 1."""
        return RmsNorm(torch.ones(inputs, dtype=torch.bfloat16, device=DEVICE), 1e-6)

    def tensors(self, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        width = self.outputs // 2 if self.after.activation else self.outputs
        x = torch.randn((rows, self.inputs), dtype=torch.bfloat16, device=DEVICE)
        return x, torch.zeros((rows, width), dtype=torch.bfloat16, device=DEVICE)

    def calls(self, rows: int) -> dict[str, Callable[[], None]]:
        """All products of so many rows, by the names of their shapes."""
        x, out = self.tensors(rows)
        found: dict[str, Callable[[], None]] = {}
        for shape in candidates(rows, self.packed, self.after):
            if fits(shape, self.packed, self.after):
                found[named(shape)] = partial(self._multiply, x, out, shape)
        if rows > 64:
            found["library"] = partial(self._by_library, x, out)
        return found

    def _multiply(self, x: torch.Tensor, out: torch.Tensor, shape: Shape) -> None:
        norm = self.norm if self.after is not ADDED else None
        for copy in self.copies:
            if isinstance(shape, CodesGemvShape):
                codes_gemv(x, copy, None, out, norm=norm, after=self.after, shape=shape)
            elif isinstance(shape, NarrowCodesShape):
                narrow_codes(x, copy, None, out, norm=norm, after=self.after, shape=shape)
            elif isinstance(shape, SkinnyCodesShape):
                y = x if norm is None else rms_norm(x, norm)
                skinny_codes(y, copy, None, out, self.counters, after=self.after, shape=shape)
            else:
                early = x.shape[0] <= 64
                kind = torch.int8 if copy.kind is CodeKind.SIGNED else torch.float8_e4m3fn
                rows = quantised_rows(
                    x, norm, kind, padded=copy.padded, part=copy.part, early=early
                )
                scaled_tiles(rows, copy, None, out, after=self.after, shape=shape, early=early)

    def _by_library(self, x: torch.Tensor, out: torch.Tensor) -> None:
        """The matrix converted, or 8-bit floats as they are."""
        epilogue: Epilogue | None = AddTo(out) if self.after.added else None
        if self.after.activation is not None:
            epilogue = Gate(self.after.activation)
        for copy in self.copies:
            if copy.kind is not CodeKind.FLOAT:
                by_library(x, None, dequantise(copy, torch.bfloat16), None, epilogue)
                continue
            rows = quantised_rows(x, None, torch.float8_e4m3fn, padded=copy.padded, part=copy.part)
            matrix = copy.codes.view(torch.int8).view(torch.float8_e4m3fn).t()
            scales = rows.scales.unsqueeze(1), copy.scales.unsqueeze(0)
            product = torch._scaled_mm(
                rows.values, matrix, *scales, out_dtype=torch.bfloat16, use_fast_accum=True
            )
            finish(product, epilogue)


def named(shape: Shape) -> str:
    return "/".join(map(str, astuple(shape)))


def tile_rows(form: str) -> tuple[int, ...]:
    return (1, 64, 256, 512) if form == "w4" else (1, 64, 512, 4096)


def tune(
    bandwidth: float,
    until: float,
    forms: Sequence[str] = tuple(FORMS),
    numbers: Sequence[int] = (),
) -> Iterator[Tiles]:
    """The times of all candidates, by matrix, form and rows: `numbers`, or without them those of the form."""
    for form in forms:
        products = {name: Products(name, form) for name in MATRICES}

        def passes(products: Mapping[str, Products] = products, form: str = form) -> None:
            for one in products.values():
                for rows in numbers or tile_rows(form):
                    for call in one.calls(rows).values():
                        call()

        began = time.perf_counter()
        try:
            count = sum(compile_ahead(passes).values())
            print(f"{form}: {count} kernels in {time.perf_counter() - began:.0f} s", flush=True)
        except Exception as error:  # noqa: BLE001 - a shape that does not fit is no figure
            print(f"{form}: {type(error).__name__}: {error}", flush=True)
        for name, one in products.items():
            for rows in numbers or tile_rows(form):
                floor = 1e6 * one.nbytes / bandwidth
                tiles = Tiles(name, form, rows, floor)
                for shape, call in one.calls(rows).items():
                    if time.perf_counter() > until:
                        break
                    try:
                        us = 1e3 * milliseconds(call) / len(one.copies)
                    except Exception as error:  # noqa: BLE001 - a shape that does not fit is no figure
                        print(f"{name} {form} {rows} {shape}: {type(error).__name__}", flush=True)
                        continue
                    tiles.found.append((shape, us))
                tiles.found.sort(key=lambda pair: pair[1])
                best = ", ".join(f"{shape} {us:.1f}" for shape, us in tiles.found[:4])
                print(f"{name:8} {form:5} {rows:4} floor {floor:6.1f}: {best}", flush=True)
                yield tiles
        del products
        gc.collect()
        torch.cuda.empty_cache()


def rules(tuned: Sequence[Tiles]) -> TileRules:
    """The fastest of the measured shapes, else those by the rules."""
    best: dict[tuple[int, int, str, int], tuple[int, ...]] = {}
    for tiles in tuned:
        outputs, inputs, _ = MATRICES[tiles.matrix]
        bits = FORMS[tiles.form][0]
        kind = CodeKind.NIBBLE if bits == 4 else CodeKind.SIGNED if bits else CodeKind.FLOAT
        shapes = [shape for shape, _ in tiles.found if shape[0].isdigit()]
        if shapes:
            numbers = tuple(map(int, shapes[0].split("/")))
            best[outputs, inputs, kind.value, tiles.rows] = numbers

    def at(packed: PackedCodes, rows: int) -> tuple[int, ...] | None:
        return best.get((packed.outputs, packed.padded, packed.kind.value, rows))

    def row(packed: PackedCodes, after: After, device: torch.device) -> CodesGemvShape:
        found = at(packed, 1)
        return CodesGemvShape(*found) if found else codes_gemv_shape(packed, after, device)

    def narrow(x: torch.Tensor, packed: PackedCodes) -> NarrowCodesShape:
        found = at(packed, x.shape[0])
        return NarrowCodesShape(*found) if found else narrow_codes_shape(x, packed)

    def skinny(x: torch.Tensor, packed: PackedCodes, after: After) -> SkinnyCodesShape:
        found = at(packed, x.shape[0])
        return SkinnyCodesShape(*found) if found else skinny_codes_shape(x, packed, after)

    def scaled(rows: int, packed: PackedCodes, after: After) -> ScaledTilesShape:
        found = at(packed, min(rows, 4096))
        return ScaledTilesShape(*found) if found else scaled_tiles_shape(rows, packed, after)

    return TileRules(row, narrow, skinny, scaled)


class TunedKernels(GpuKernels):
    """Kernels with measured shapes of tiles."""

    def __init__(self, tuned: Sequence[Tiles]) -> None:
        super().__init__(DEVICE)
        self._rules = rules(tuned)

    def coded(
        self, blocks: Sequence[Codes], bias: torch.Tensor | None, dtype: torch.dtype
    ) -> Weight | None:
        form = packed(blocks)
        assert dtype == torch.bfloat16
        assert form is not None
        return CodedWeight(form, bias, self._counters, self._rules)


@dataclass(frozen=True)
class Step:
    """A forward pass and its logits; all tensors are fixed."""

    decoder: Decoder
    cache: torch.Tensor
    counts: tuple[int, ...]
    context: int
    adapters: torch.Tensor | None = None

    def call(self) -> Callable[[], object]:
        """What is timed."""
        count, rows = len(self.counts), sum(self.counts)
        starts = torch.tensor([0, *self.counts]).cumsum(0)
        lengths = torch.full((count,), self.context)
        width = -(-self.context // BLOCK)
        tables = 1 + torch.arange(count * width, dtype=torch.int32).view(count, width)
        positions = torch.cat([torch.arange(self.context - n, self.context) for n in self.counts])
        which = torch.arange(count).repeat_interleave(torch.tensor(self.counts))
        slots = tables[which, positions // BLOCK].long() * BLOCK + positions % BLOCK
        tokens = torch.arange(rows, device=DEVICE)
        host = None
        if rows > count:
            host = HostRagged(
                starts.numpy(), lengths.numpy(), torch.arange(count).numpy(), tables.numpy()
            )
        there = starts.int().to(DEVICE), lengths.int().to(DEVICE), tables.to(DEVICE)
        ragged = Ragged(*there, None, host)
        at = positions.int().to(DEVICE), slots.int().to(DEVICE)
        caches = [self.cache] * len(self.decoder.layers)
        last = (starts[1:] - 1).to(DEVICE)

        def run() -> object:
            step = self.decoder.step(ragged, *at, self.cache.shape, self.adapters)
            hidden = self.decoder.hidden(tokens, caches, step, last if rows > count else None)
            return self.decoder.logits(hidden)

        return run


def weights_bytes(form: str, layers: int) -> float:
    """Bytes of weights and scales that a step reads, with the head."""
    bits, group = FORMS.get(form, (16, None))
    bytes_each = {4: 0.5, 16: 2.0}.get(bits, 1.0) + (0 if group is None else 2 / group)
    count = sum(outputs * inputs for outputs, inputs, _ in MATRICES.values())
    head: int = CONFIG["vocab_size"] * CONFIG["hidden_size"]
    return layers * count * bytes_each + 2 * head


def steps(
    form: str,
    tuned: Sequence[Tiles],
    layers: int,
    cache: torch.Tensor,
    bandwidth: float,
    names: Sequence[str] = KINDS,
    context: int = CONTEXT,
) -> dict[str, float]:
    """Milliseconds of each kind of step named in `names`, in one form."""
    spec = parse_spec(CONFIG | {"num_hidden_layers": layers})
    scheme: Scheme | None = Drawn(*FORMS[form]) if form != "bf16" else None
    if scheme is not None:
        spec = replace(spec, schemes=Uniform(scheme))
    kernels = GpuKernels(DEVICE) if scheme is None else TunedKernels(tuned)
    decoder = random_decoder(
        spec, kernels=kernels, dtype=torch.bfloat16, device=DEVICE, positions=2048
    )
    small = replace(decoder, layers=decoder.layers[:2])
    kinds = {str(rows): ((1,) * rows, context) for rows in ROWS}
    kinds["prompts"] = ((PROMPT,) * PROMPTS, PROMPT)
    kinds = {name: kinds[name] for name in names}

    def passes() -> None:
        for counts, length in kinds.values():
            Step(small, cache, counts, length).call()()

    compile_ahead(passes)
    nbytes = weights_bytes(form, layers)
    found: dict[str, float] = {"weights_gb": nbytes / 1e9}
    for name, (counts, length) in kinds.items():
        call = Step(decoder, cache, counts, length).call()
        prompts = name == "prompts"
        found[name] = milliseconds(call, graph=not prompts, replays=3 if prompts else 9)
        if not prompts:
            keys = cache.shape[3] * cache.shape[4] * 4 * length * len(counts) * layers
            found[f"floor {name}"] = 1e3 * (nbytes + keys) / bandwidth
    return found


def show(rows: Mapping[str, Mapping[str, float]]) -> None:
    plain = rows["bf16"]
    kinds = [str(rows) for rows in ROWS]
    head = "".join(f"{kind + ' ms':>10}{'floor':>8}{'x bf16':>8}" for kind in kinds)
    print(f"{'':6}{'GB':>7}{head}{'prompts':>10}{'x bf16':>8}")
    for form, row in rows.items():
        line = f"{form:6}{row['weights_gb']:7.2f}"
        for kind in kinds:
            line += f"{row[kind]:10.3f}{row['floor ' + kind]:8.3f}{plain[kind] / row[kind]:8.2f}"
        print(f"{line}{row['prompts']:10.2f}{plain['prompts'] / row['prompts']:8.2f}", flush=True)
        if form in GOALS:
            one, many, faster = GOALS[form]
            print(f"{'goal':13}{one:10.2f}{'':16}{many:10.2f}{'':42}{'':10}{faster:8.2f}")


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=220.0, help="for all measurements")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--rows", nargs="+", type=int, default=[], help="of products with tiles")
    parser.add_argument("--steps", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens of a sequence")
    parser.add_argument("--no-tiles", action="store_true", help="only steps, tiles by the rule")
    args = parser.parse_args()
    began = time.perf_counter()
    torch.manual_seed(0)
    bandwidth = copy_bandwidth()
    torch.cuda.empty_cache()
    out: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "bandwidth": bandwidth,
    }
    print(out, flush=True)
    until = began + args.seconds * 0.6
    tuned = [] if args.no_tiles else list(tune(bandwidth, until, args.forms, args.rows))
    out["tiles"] = [asdict(one) for one in tuned]
    blocks = max(max(ROWS) * max(args.context, CONTEXT), PROMPTS * PROMPT) // BLOCK + 1
    cache = torch.zeros((2, blocks, BLOCK, 8, 128), dtype=torch.bfloat16, device=DEVICE).normal_()
    out["steps"] = {}
    for form in ("bf16", *args.forms):
        out["steps"][form] = steps(
            form, tuned, args.layers, cache, bandwidth, args.steps, args.context
        )
        gc.collect()
        torch.cuda.empty_cache()
        print(
            form, json.dumps(out["steps"][form]), f"{time.perf_counter() - began:.0f} s", flush=True
        )
        if args.out:
            args.out.write_text(json.dumps(out, indent=1) + "\n")
    if len(args.steps) == len(KINDS):
        show(out["steps"])


if __name__ == "__main__":
    main()
