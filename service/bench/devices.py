"""The limits of devices, as their vendors publish them.

Does: list memory, its bandwidth and the dense arithmetic rate in bfloat16. Does not: measure; what a copy or a matrix
product reaches is some 85 to 95 % of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Device:
    """A device: bytes a second of its memory, operations a second in bfloat16 without sparsity, and bytes of memory.

    `memory` 0: not known.
    """

    name: str
    bandwidth: float
    operations: float
    memory: float = 0.0


# Data sheets of the vendors.
DEVICES: Mapping[str, Device] = MappingProxyType(
    {
        "b200": Device("NVIDIA B200", 8.0e12, 2.25e15, 180e9),
        "h200": Device("NVIDIA H200 SXM", 4.8e12, 989e12, 141e9),
        "h100": Device("NVIDIA H100 SXM", 3.35e12, 989e12, 80e9),
        "h100-pcie": Device("NVIDIA H100 PCIe", 2.0e12, 756e12, 80e9),
        "a100": Device("NVIDIA A100 80 GB SXM", 2.039e12, 312e12, 80e9),
        "l40s": Device("NVIDIA L40S", 0.864e12, 362e12, 48e9),
        "l4": Device("NVIDIA L4", 0.3e12, 121e12, 24e9),
        "rtx4090": Device("NVIDIA GeForce RTX 4090", 1.008e12, 165e12, 24e9),
        "mi300x": Device("AMD Instinct MI300X", 5.3e12, 1307e12, 192e9),
    }
)
