"""Eight doubles at once inside numba kernels.

LLVM unrolls short loops into scalars before it looks for vectors, and never turns a loop of
``bits |= (x[i] < y) << i`` into the compare-to-mask instruction that every vector unit has. So kernels
whose rows are padded to multiples of eight say what they want with the few operations below, written in LLVM's
portable intermediate language: on a machine without wide vectors LLVM splits the lanes.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

LANES = 8
_f64 = ir.DoubleType()
_i32 = ir.IntType(32)
_i64 = ir.IntType(64)
_vector = ir.VectorType(_f64, LANES)
_words = ir.VectorType(_i64, LANES)
_bits = ir.VectorType(ir.IntType(1), LANES)
_fast = ("contract",)


class LanesType(types.Type):
    """Type of eight doubles held in vector registers."""

    def __init__(self):
        super().__init__(name="Lanes8")


class WordsType(types.Type):
    """Type of eight 64-bit words held in vector registers."""

    def __init__(self):
        super().__init__(name="Words8")


lanes_type = LanesType()
words_type = WordsType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _vector)


@register_model(WordsType)
class _WordsModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _words)


def _is_row(array, dtype) -> bool:
    return isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C" and array.dtype == dtype


def _address(context, builder, array_type, array, start, vector):
    view = context.make_array(array_type)(context, builder, array)
    return builder.bitcast(builder.gep(view.data, [start]), vector.as_pointer())


def _spread(builder, scalar, vector):
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(_i32, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_i32, LANES), [0] * LANES))


def _magnitude(builder, x):
    clear_sign = ir.Constant(_words, [2**63 - 1] * LANES)
    return builder.bitcast(builder.and_(builder.bitcast(x, _words), clear_sign), _vector)


def _as_byte(builder, bits):
    return builder.zext(builder.bitcast(bits, ir.IntType(LANES)), _i64)


@intrinsic
def load(typingctx, array, start):
    """``array[start : start + 8]``."""
    if not _is_row(array, types.float64):
        return None

    def codegen(context, builder, signature, args):
        value = builder.load(_address(context, builder, signature.args[0], args[0], args[1], _vector))
        value.align = 8
        return value

    return lanes_type(array, types.intp), codegen


@intrinsic
def store(typingctx, array, start, x):
    """``array[start : start + 8] = x``."""
    if not _is_row(array, types.float64):
        return None

    def codegen(context, builder, signature, args):
        where = _address(context, builder, signature.args[0], args[0], args[1], _vector)
        builder.store(args[2], where).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes_type), codegen


@intrinsic
def spread(typingctx, value):
    """Eight copies of a double."""

    def codegen(context, builder, signature, args):
        return _spread(builder, args[0], _vector)

    return lanes_type(types.float64), codegen


@intrinsic
def minus_scaled(typingctx, y, f, x):
    """``y - f * x`` for a double f."""

    def codegen(context, builder, signature, args):
        y, f, x = args
        return builder.fsub(y, builder.fmul(_spread(builder, f, _vector), x, flags=_fast), flags=_fast)

    return lanes_type(lanes_type, types.float64, lanes_type), codegen


@intrinsic
def plus_scaled_size(typingctx, y, f, x):
    """``y + f * abs(x)`` for a double f."""

    def codegen(context, builder, signature, args):
        y, f, x = args
        size = _magnitude(builder, x)
        return builder.fadd(y, builder.fmul(_spread(builder, f, _vector), size, flags=_fast), flags=_fast)

    return lanes_type(lanes_type, types.float64, lanes_type), codegen


@intrinsic
def scaled(typingctx, f, x):
    """``f * x`` for a double f."""

    def codegen(context, builder, signature, args):
        return builder.fmul(_spread(builder, args[0], _vector), args[1])

    return lanes_type(types.float64, lanes_type), codegen


@intrinsic
def turned_ratio(typingctx, a, b, size):
    """``a / size`` where b > 0 and ``-a / size`` elsewhere."""

    def codegen(context, builder, signature, args):
        a, b, size = args
        positive = builder.fcmp_ordered(">", b, ir.Constant(_vector, [0.0] * LANES))
        return builder.fdiv(builder.select(positive, a, builder.fneg(a)), size)

    return lanes_type(lanes_type, lanes_type, lanes_type), codegen


@intrinsic
def below(typingctx, x, bound):
    """Byte whose bit l is ``x[l] < bound``, as uint64."""

    def codegen(context, builder, signature, args):
        return _as_byte(builder, builder.fcmp_ordered("<", args[0], _spread(builder, args[1], _vector)))

    return types.uint64(lanes_type, types.float64), codegen


@intrinsic
def flatter(typingctx, x, f, y):
    """Byte whose bit l is ``abs(x[l]) < f * y[l]``, as uint64."""

    def codegen(context, builder, signature, args):
        x, f, y = args
        size = _magnitude(builder, x)
        return _as_byte(builder, builder.fcmp_ordered("<", size, builder.fmul(_spread(builder, f, _vector), y)))

    return types.uint64(lanes_type, types.float64, lanes_type), codegen


@intrinsic
def no_words(typingctx):
    """Eight zero words."""

    def codegen(context, builder, signature, args):
        return ir.Constant(_words, [0] * LANES)

    return words_type(), codegen


@intrinsic
def mark_same_sign(typingctx, words, x, y, bit):
    """``words[l] | bit`` where ``x[l] * y[l] > 0``, ``words[l]`` elsewhere."""

    def codegen(context, builder, signature, args):
        words, x, y, bit = args
        same = builder.fcmp_ordered(">", builder.fmul(x, y), ir.Constant(_vector, [0.0] * LANES))
        added = builder.select(same, _spread(builder, bit, _words), ir.Constant(_words, [0] * LANES))
        return builder.or_(words, added)

    return words_type(words_type, lanes_type, lanes_type, types.uint64), codegen


@intrinsic
def store_words(typingctx, array, start, x):
    """``array[start : start + 8] = x``."""
    if not _is_row(array, types.uint64):
        return None

    def codegen(context, builder, signature, args):
        where = _address(context, builder, signature.args[0], args[0], args[1], _words)
        builder.store(args[2], where).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, words_type), codegen


@intrinsic
def load_words(typingctx, array, start):
    """``array[start : start + 8]``."""
    if not _is_row(array, types.uint64):
        return None

    def codegen(context, builder, signature, args):
        value = builder.load(_address(context, builder, signature.args[0], args[0], args[1], _words))
        value.align = 8
        return value

    return words_type(array, types.intp), codegen


@intrinsic
def flipped(typingctx, x, y):
    """``x ^ y``."""

    def codegen(context, builder, signature, args):
        return builder.xor(*args)

    return words_type(words_type, words_type), codegen


@intrinsic
def flipped_at(typingctx, x, lane, bit):
    """``x`` with ``x[lane] ^= bit``, unchanged when there is no such lane."""

    def codegen(context, builder, signature, args):
        x, lane, bit = args
        here = builder.icmp_signed("==", _spread(builder, lane, _words), ir.Constant(_words, list(range(LANES))))
        return builder.xor(x, builder.select(here, _spread(builder, bit, _words), ir.Constant(_words, [0] * LANES)))

    return words_type(words_type, types.intp, types.uint64), codegen


@intrinsic
def store_some_words(typingctx, array, start, x, n):
    """``array[start : start + n] = x[:n]``; with n = 0 nothing is touched."""
    if not _is_row(array, types.uint64):
        return None

    def codegen(context, builder, signature, args):
        array, start, x, n = args
        where = _address(context, builder, signature.args[0], array, start, _words)
        some = builder.icmp_signed("<", ir.Constant(_words, list(range(LANES))), _spread(builder, n, _words))
        kind = ir.FunctionType(ir.VoidType(), [_words, _words.as_pointer(), _i32, _bits])
        masked = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.store.v8i64.p0v8i64")
        builder.call(masked, [x, where, ir.Constant(_i32, 8), some])
        return context.get_dummy_value()

    return types.void(array, types.intp, words_type, types.intp), codegen
