"""Runs Triton's interpreter faster, with the same results.

Does: replace seventeen of the interpreter's functions. A sampling call with every stage takes a tenth of the CPU time.
Does not: change kernels; a device never uses the interpreter.

- A reduction with a kernel's own combine function takes one Python call per element. Here neighbours are combined as
  arrays, level by level: log2(n) calls. Float sums associate as a tree, as on a device, instead of left to right. A
  combine function must not branch on a tensor.
- Types of numpy are looked up in a table that is built anew for each operation. Here answers are kept.
- Each call of a device function patches `triton.language` again. Here a module that is patched already is skipped.
- Each value describes its shape anew, as a type and as a tensor, and two shapes are compared by way of constants. Here
  shapes are described once, and compared as tuples.
- Each operation works out which types its operands have in common. Here this is skipped where both have the same type,
  or one is a number of that kind.
- The operands of each operation are copied to the shape that they have in common. Here numpy widens them while it
  computes; only the type of the left one, which is that of the result, is set before.
- Each number in a kernel becomes a tensor whenever it is used. Here tensors of numbers are kept.
- Each value's size is compared with that of its type. Here answers are kept.
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
_cast_number = tl.semantic.TritonSemantic._cast_to_computation_type
_binary = interpreter.InterpreterBuilder.binary_op
_has_room = interpreter._validate_np_data_size
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
    self.element_ty, self.sizes = element_ty, sizes
    self.described = _shape(sizes)
    self.shape, self.numel = self.described[:2]
    self.name = f"<{sizes}, {element_ty}>"


def _with_element_type(self: Any, scalar: Any) -> Any:
    """`block_type.with_element_ty`."""
    return _of_shape(self.sizes, scalar)


def _of_shape(sizes: tuple[int, ...], scalar: Any) -> Any:
    """The type of a block; a type of pointers has no key."""
    found = tl.block_type if isinstance(scalar, tl.pointer_type) else _block
    return found(scalar, sizes)


@functools.cache
def _block(scalar: Any, sizes: tuple[int, ...]) -> Any:
    return tl.block_type(scalar, sizes)


def _is_type(self: Any, other: Any) -> bool:
    """`dtype.__eq__`."""
    if self is other:
        return True
    other = other if isinstance(other, tl.dtype) else _unwrap(other)
    return isinstance(other, tl.dtype) and self.name == other.name


def _init_handle(self: Any, data: np.ndarray, dtype: Any, attr: Any = None) -> None:
    """`TensorHandle.__init__`."""
    self.data, self.dtype, self.attr = data, dtype, {} if attr is None else attr
    if not _has_size(data, dtype):
        raise ValueError(f"values of {data.dtype} have no room in {dtype}")


def _init_tensor(self: Any, handle: Any, type: Any) -> None:  # noqa: A002  Triton's name
    """`tensor.__init__`."""
    self.handle, self.type, self.dtype = handle, type, type.scalar
    self.shape, self.numel = (type.described if type.is_block() else _shape(()))[2:]


def _broadcast(self: Any, lhs: Any, rhs: Any) -> tuple[Any, Any]:
    """`broadcast_impl_value`."""
    left, right = lhs.type.sizes, rhs.type.sizes
    if left == right:
        return lhs, rhs
    both = _common(left, right)
    return _widened(self, lhs, left, both), _widened(self, rhs, right, both)


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
    return self.make_tensor(handle, _of_shape(shape, value.dtype))


def _match(
    self: Any,
    lhs: Any,
    rhs: Any,
    allow_lhs_ptr: bool = False,
    allow_rhs_ptr: bool = False,
    arithmetic_check: bool | None = None,
    div_or_mod: bool = False,
) -> tuple[Any, Any]:
    """`binary_op_type_checking_impl`.

    What it is asked for with `arithmetic_check` may use either value alone; all else computes with both.
    """
    pair = None
    if div_or_mod or arithmetic_check is None:
        pair = _pair(self, lhs, rhs, allow_lhs_ptr, div_or_mod)
    if pair is None:
        checks = True if arithmetic_check is None else arithmetic_check
        pair = _match_any(self, lhs, rhs, allow_lhs_ptr, allow_rhs_ptr, checks, div_or_mod)
    return pair


def _pair(
    self: Any, lhs: Any, rhs: Any, allow_lhs_ptr: bool, div_or_mod: bool
) -> tuple[Any, Any] | None:
    """Both values, the left one with the type of the result; None where types differ or `_match_any` is to judge."""
    if not isinstance(lhs, tl.tensor):
        if not isinstance(rhs, tl.tensor) or not _is_of(lhs, rhs.dtype, div_or_mod):
            return None
        return tl.tensor(self._cast_to_computation_type(lhs, rhs.dtype).handle, rhs.type), rhs
    if not isinstance(rhs, tl.tensor):
        if not _is_of(rhs, lhs.dtype, div_or_mod):
            return None
        return lhs, self._cast_to_computation_type(rhs, lhs.dtype)
    if not _are_alike(lhs.dtype, rhs.dtype, div_or_mod):
        moves = allow_lhs_ptr and isinstance(lhs.dtype, tl.pointer_type) and rhs.dtype.is_int()
        if not moves:
            return None
    left, right = lhs.type.sizes, rhs.type.sizes
    if left != right:
        both = _common(left, right)
        if left != both:
            return tl.tensor(lhs.handle, _of_shape(both, lhs.dtype)), rhs
    return lhs, rhs


def _are_alike(left: Any, right: Any, div_or_mod: bool) -> bool:
    """Whether two values of these types have the first in common, and neither points anywhere."""
    return left.name == right.name and _numbers(left.name, div_or_mod) != ()


def _is_of(number: Any, dtype: Any, div_or_mod: bool) -> bool:
    """Whether a number takes the type of a tensor."""
    return type(number) in _numbers(dtype.name, div_or_mod)


@functools.cache
def _numbers(name: str, div_or_mod: bool) -> tuple[type, ...]:
    """The types of Python's numbers that take a type of Triton; none for a pointer, or what is divided as another."""
    if not name.startswith(("int", "uint", "fp", "bf")):
        return ()
    if div_or_mod and not name.startswith(("int", "uint", "fp32", "fp64")):
        return ()
    if tl.dtype(name).is_floating():
        return int, float
    return (bool,) if name == "int1" else (int,)


def _cast_to_type(self: Any, value: Any, dtype: Any) -> Any:
    """`_cast_to_computation_type`. Zeros of floats are not kept: both signs are the same key."""
    if type(value) is int or (type(value) is float and value):
        kind: Any = type(value)
        return _number(value, kind, dtype)
    return _cast_number(self, value, dtype)


@functools.cache
def _number(value: float, _kind: type, dtype: Any) -> Any:
    """A number as a tensor; 1 and 1.0 are the same key but for their kinds."""
    return _cast_number(interpreter.interpreter_semantic, value, dtype)


def _computed(self: Any, lhs: Any, rhs: Any, op: Any) -> Any:
    """`binary_op`."""
    left, right = lhs.data, rhs.data
    if left.dtype.char == "?" and right.dtype.char == "?":
        return _binary(self, lhs, rhs, op)
    output, dtype = op(left, right), lhs.dtype.scalar
    if not _fits(output.dtype, dtype.name):
        output = output.astype(_dtype(dtype))
    return interpreter.TensorHandle(output, dtype)


def _has_size(array: Any, dtype: Any) -> bool:
    """`_validate_np_data_size`."""
    return isinstance(dtype, tl.pointer_type) or _fits(array.dtype, dtype.name)


@functools.cache
def _fits(found: np.dtype, name: str) -> bool:
    """Whether a value of numpy's type `found` has room in Triton's type of this name; any address has."""
    return "pointer" in name or bool(_has_room(np.empty(0, found), tl.dtype(name)))


def _unwrapped(value: Any) -> Any:
    """`_unwrap_if_constexpr`."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    return value.value if kind is tl.constexpr else _unwrap(value)


def _patch_attribute(obj: object, name: str, member: Any, _builder: object, scope: Any) -> None:
    """`_patch_attr`."""
    function = getattr(
        member, "__wrapped__", member
    )  # without the check that an argument was added

    def call(*given: Any, **named: Any) -> Any:
        named["_semantic"] = interpreter.interpreter_semantic
        return function(*given, **named)

    scope.set_attr(obj, name, call)


def install() -> None:
    """Replace the functions, for the rest of the process; calls after the first change nothing."""
    interpreter._patch_lang = _patch_once
    interpreter._get_np_dtype = _dtype
    interpreter.ReduceOps.generic_reduce = _reduce
    tl.dtype.sizes = ()  # of a scalar
    tl.dtype.__eq__ = _is_type
    tl.block_type.with_element_ty = _with_element_type
    tl.block_type.__init__ = _init_block_type
    tl.tensor.__init__ = _init_tensor
    tl.semantic.TritonSemantic.broadcast_impl_value = _broadcast
    tl.semantic.TritonSemantic.binary_op_type_checking_impl = _match
    tl.semantic.TritonSemantic._cast_to_computation_type = _cast_to_type
    interpreter.InterpreterBuilder.binary_op = _computed
    interpreter._validate_np_data_size = _has_size
    interpreter.TensorHandle.__init__ = _init_handle
    tl.core._unwrap_if_constexpr = _unwrapped
    interpreter._patch_attr = _patch_attribute
    interpreter.interpreter_semantic.binary_op_sanitize_overflow_impl = _check_overflow
