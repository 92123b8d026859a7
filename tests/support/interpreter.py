"""Runs Triton's interpreter faster, with the same results.

Does: replace ten of the interpreter's functions. A sampling call with every stage takes a tenth of the CPU time. Does
not: change kernels; a device never uses the interpreter.

- A reduction with a kernel's own combine function takes one Python call per element. Here neighbours are combined as
  arrays, level by level: log2(n) calls. Float sums associate as a tree, as on a device, instead of left to right. A
  combine function must not branch on a tensor.
- Types of numpy are looked up in a table that is built anew for each operation. Here answers are kept.
- Each call of a device function patches `triton.language` again. Here a module that is patched already is skipped.
- Each value describes its shape anew, as a type and as a tensor, and two shapes are compared by way of constants. Here
  shapes are described once, and compared as tuples.
- Each operation works out which types its operands have in common. Here this is skipped where both have the same type,
  or one is a number of that kind.
- Each function of the language drops one argument and adds it again, and asks of each argument four times what it is.
  Here one is set, and tensors and numbers are known at once.
- Integer operations are repeated in 64 bits to find overflows, but without `debug` the finding is dropped. Here neither
  is done.
"""

import functools
import inspect
from typing import Any

import numpy as np
import triton.language as tl
from triton._utils import validate_block_shape
from triton.runtime import interpreter

_patch_lang = interpreter._patch_lang
_get_np_dtype = interpreter._get_np_dtype
_unwrap = tl.core._unwrap_if_constexpr
_match_any = tl.semantic.TritonSemantic.binary_op_type_checking_impl
_find_overflow = interpreter.interpreter_semantic.binary_op_sanitize_overflow_impl
_PLAIN = frozenset((tl.tensor, int, float, bool, str, type(None)))
_ADDRESS = np.dtype(np.uint64)


def _halved(combine: Any, arrays: list[np.ndarray], tensors: Any) -> list[np.ndarray]:
    """Elements 2i and 2i + 1 along the first axis combined; a last element without a neighbour is kept."""
    even = len(arrays[0]) // 2 * 2
    left, right = (tensors([array[first:even:2] for array in arrays]) for first in (0, 1))
    combined = combine(*left, *right)
    if not isinstance(combined, tuple):
        combined = (combined,)
    return [
        np.concatenate((one.handle.data.astype(array.dtype), array[even:]))
        for one, array in zip(combined, arrays, strict=True)
    ]


def _reduce(self: Any, given: tuple[Any, ...]) -> list[Any]:
    """`ReduceOps.generic_reduce`, on whole arrays."""
    types = [one.dtype for one in given]
    arrays = [one.handle.data for one in given]
    shape = arrays[0].shape
    arrays = [a.reshape(-1) if self.axis is None else np.moveaxis(a, self.axis, 0) for a in arrays]

    def tensors(data: list[np.ndarray]) -> list[Any]:
        return [self.to_tensor(one, dtype) for one, dtype in zip(data, types, strict=True)]

    while len(arrays[0]) > 1:
        arrays = _halved(self.combine_fn.fn, arrays, tensors)
    results = [array[0] for array in arrays]
    if self.keep_dims:
        kept = [1 if self.axis in (None, axis) else size for axis, size in enumerate(shape)]
        results = [result.reshape(kept) for result in results]
    return tensors(results)


def _dtype(dtype: Any) -> np.dtype:
    """`_get_np_dtype` of a scalar type or a block of it; a pointer is an address."""
    scalar = dtype.scalar
    return _ADDRESS if isinstance(scalar, tl.pointer_type) else _dtype_named(scalar.name)


@functools.cache
def _dtype_named(name: str) -> np.dtype:
    dtype: np.dtype = _get_np_dtype(tl.dtype(name))
    return dtype


def _patch_once(fn: Any) -> Any:
    """`_patch_lang`, or an empty scope where the modules that `fn` sees are patched."""
    if any(tl.core.is_builtin(lang.load) for lang in _modules(fn)):
        return _patch_lang(fn)
    return interpreter._LangPatchScope()


@functools.cache
def _modules(fn: Any) -> list[Any]:
    """The modules of the language among the globals of `fn`."""
    return [v for v in fn.__globals__.values() if inspect.ismodule(v) and v in (tl, tl.core)]


def _check_overflow(*operation: Any) -> None:
    """`binary_op_sanitize_overflow_impl`, where its finding is used."""
    if interpreter.interpreter_builder.options.debug:
        _find_overflow(*operation)


@functools.cache
def _shape(sizes: tuple[int, ...]) -> tuple[Any, int, Any, Any]:
    """A shape as types have it, its elements, and both as tensors have them."""
    numel = validate_block_shape(list(sizes))
    constants = [tl.constexpr(size) for size in sizes]
    return tl.core.tuple(list(sizes)), numel, tl.core.tuple(constants), tl.constexpr(numel)


def _init_block_type(self: Any, element_ty: Any, shape: Any) -> None:
    """`block_type.__init__`."""
    sizes = tuple([getattr(size, "value", size) for size in shape])
    if not sizes:
        raise TypeError("0d block_type is forbidden")
    self.element_ty = element_ty
    self.described = _shape(sizes)
    self.shape, self.numel = self.described[:2]
    self.name = f"<{sizes}, {element_ty}>"


def _init_tensor(self: Any, handle: Any, type: Any) -> None:  # noqa: A002  Triton's name
    """`tensor.__init__`."""
    self.handle, self.type, self.dtype = handle, type, type.scalar
    self.shape, self.numel = (type.described if type.is_block() else _shape(()))[2:]


def _broadcast(self: Any, lhs: Any, rhs: Any) -> tuple[Any, Any]:
    """`broadcast_impl_value`."""
    left, right = _sizes(lhs.type), _sizes(rhs.type)
    if left == right:
        return lhs, rhs
    both = _common(left, right)
    return _widened(self, lhs, left, both), _widened(self, rhs, right, both)


def _sizes(type_: Any) -> tuple[int, ...]:
    """A shape; that of a scalar is empty."""
    return tuple(type_.shape.values) if type_.is_block() else ()


@functools.cache
def _common(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that both are widened to."""
    return np.broadcast_shapes(left, right)


def _widened(self: Any, value: Any, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    if sizes == shape:
        return value
    data, scalar = value.handle.data, value.handle.dtype.scalar
    data = np.broadcast_to(data, shape) if sizes else np.full(shape, data, dtype=_dtype(scalar))
    handle = interpreter.TensorHandle(data, scalar)
    return self.make_tensor(handle, tl.block_type(value.dtype, list(shape)))


def _match(
    self: Any,
    lhs: Any,
    rhs: Any,
    allow_lhs_ptr: bool = False,
    allow_rhs_ptr: bool = False,
    arithmetic_check: bool = True,
    div_or_mod: bool = False,
) -> tuple[Any, Any]:
    """`binary_op_type_checking_impl`."""
    if not div_or_mod:
        number = not isinstance(rhs, tl.tensor)
        if isinstance(lhs, tl.tensor) and (
            _is_of(rhs, lhs.dtype) if number else _are_alike(lhs.dtype, rhs.dtype)
        ):
            other = self._cast_to_computation_type(rhs, lhs.dtype) if number else rhs
            return self.broadcast_impl_value(lhs, other)  # type: ignore[no-any-return]
    found: tuple[Any, Any] = _match_any(
        self, lhs, rhs, allow_lhs_ptr, allow_rhs_ptr, arithmetic_check, div_or_mod
    )
    return found


def _are_alike(left: Any, right: Any) -> bool:
    """Whether two values of these types have the first in common, and neither points anywhere."""
    return left.name == right.name and _numbers(left.name) != ()


def _is_of(number: Any, dtype: Any) -> bool:
    """Whether a number takes the type of a tensor."""
    return type(number) in _numbers(dtype.name)


@functools.cache
def _numbers(name: str) -> tuple[type, ...]:
    """The types of Python's numbers that take a type of Triton; none for a pointer."""
    if not name.startswith(("int", "uint", "fp", "bf")):
        return ()
    if tl.dtype(name).is_floating():
        return int, float
    return (bool,) if name == "int1" else (int,)


def _unwrapped(value: Any) -> Any:
    """`_unwrap_if_constexpr`."""
    return value if type(value) in _PLAIN else _unwrap(value)


def _patch_attribute(obj: object, name: str, member: Any, _builder: object, scope: Any) -> None:
    """`_patch_attr`."""

    def call(*given: Any, **named: Any) -> Any:
        named["_semantic"] = interpreter.interpreter_semantic
        return member(*given, **named)

    scope.set_attr(obj, name, call)


def install() -> None:
    """Replace the functions, for the rest of the process; calls after the first change nothing."""
    interpreter._patch_lang = _patch_once
    interpreter._get_np_dtype = _dtype
    interpreter.ReduceOps.generic_reduce = _reduce
    tl.block_type.__init__ = _init_block_type
    tl.tensor.__init__ = _init_tensor
    tl.semantic.TritonSemantic.broadcast_impl_value = _broadcast
    tl.semantic.TritonSemantic.binary_op_type_checking_impl = _match
    tl.core._unwrap_if_constexpr = _unwrapped
    interpreter._patch_attr = _patch_attribute
    interpreter.interpreter_semantic.binary_op_sanitize_overflow_impl = _check_overflow
