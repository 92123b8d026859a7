"""Without a GPU the Triton kernels run in Triton's interpreter, which must be selected before they are defined."""

import os

import torch

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")
    from tests.support import interpreter

    interpreter.install()
