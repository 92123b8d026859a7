"""Random quantised matrices, in the forms that the formats of checkpoints decode to."""

import torch
from intaglio.kernels.codes import Codes

FLOAT = 0
"""`Codes.bits` of 8-bit floats."""


def drawn_codes(
    outputs: int,
    inputs: int,
    bits: int,
    group_size: int | None = None,
    *,
    symmetric: bool = True,
    kept: torch.dtype = torch.bfloat16,
    activations: bool = False,
    device: torch.device | None = None,
) -> Codes:
    """A matrix [outputs, inputs] with scales exact in `kept`, the same in each call; `group_size` None: one scale an
    output. On `device`, None for the host."""
    generator = torch.Generator().manual_seed(0)
    size = inputs if group_size is None else group_size
    groups = -(-inputs // size)
    scales = torch.rand((outputs, groups), generator=generator) + 0.5
    scales = (scales * inputs**-0.5 * 2 ** (1 - max(bits, 2))).to(kept).to(torch.float32)
    if bits == FLOAT:
        floats = torch.randn((outputs, inputs), generator=generator)
        rounded = floats.to(torch.float8_e4m3fn).to(device)
        return Codes(rounded, scales.to(device), None, size, bits, activations=activations)
    values = torch.randint(0, 2**bits, (outputs, inputs), generator=generator).to(torch.uint8)
    zeros = torch.full_like(scales, 2 ** (bits - 1))
    if not symmetric:
        zeros = torch.randint(0, 2**bits, scales.shape, generator=generator).to(torch.float32)
    there = (values.to(device), scales.to(device), zeros.to(device))
    return Codes(*there, size, bits, activations=activations)


def mxfp4(
    outputs: int, inputs: int, seed: int, *, scales: tuple[int, int] = (122, 126)
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random blocks [outputs, groups, 16] and scales [outputs, groups] of MXFP4; `scales`: their least and largest."""
    generator = torch.Generator().manual_seed(seed)
    shape = outputs, inputs // 32
    blocks = torch.randint(0, 256, (*shape, 16), generator=generator, dtype=torch.uint8)
    powers = torch.randint(scales[0], scales[1] + 1, shape, generator=generator, dtype=torch.uint8)
    return blocks, powers
