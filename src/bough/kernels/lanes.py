"""Lanes: one number of one state, or the same number of several independent states.

A kernel is written once, on *numbers*.  Functions inside it take a tag whose Numba type carries the lane
width; the kernel gets the tag from the rank of its workspace, ``lane = lanes_of(ws, sweep_table)``, so the ordinary
dispatcher compiles one specialization per width and Python passes nothing but arrays.  The tag's value points to the sweep table,
see ``linker``:

    ONE    a number is a float64                      arrays are 1-D, x[k]
    FOUR   a number is an LLVM vector of 4 doubles    arrays are 2-D, x[k, lane]
    DUAL   a number is such a vector and its tangent  arrays are 3-D, x[k, 0, lane] values, x[k, 1, lane] tangents

Each lane of a dual is a state with a direction of its own: its tangent is the derivative along that direction, by the chain rule
[B 64], exact.  What branches does so on values.

``load``/``store`` and their tuple versions are the only functions that know the layout: ``index`` always
counts numbers, never doubles.  Lane numbers mix freely with floats (a float is the same in every lane).
``read`` takes model parameters: from a 1-D table floats, the same in every lane; from a 2-D one lanes,
a parameter set of its own for each.
"""
import itertools
import math
import operator
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import NativeValue, intrinsic, models, overload, register_model, typeof_impl, unbox

from bough.kernels.jit import INLINED

_FLAGS = ("contract", "nsz", "arcp")                 # allow fma and x/y -> x*(1/y), but no reordering of sums
_F64, _I64, _I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)


def aligned(shape):
    """Zeros on a cache-line boundary, so that no SIMD load or store straddles two lines."""
    size = int(np.prod(shape))
    memory = np.zeros(size + 8)
    start = -(memory.ctypes.data // 8) % 8
    return memory[start:start + size].reshape(shape)


# ---- the tag ---------------------------------------------------------------------------------------
class Lanes:
    """How many independent states are processed side by side: the tag, and the array layout on the Python side."""

    def __init__(self, width, tangents=0):
        self.width, self.tangents = width, tangents
        self._numba_type_ = LanesType(width, tangents=tangents)

    def __repr__(self):
        return f"Lanes({self.width}, {self.tangents})" if self.tangents else f"Lanes({self.width})"

    def zeros(self, *shape):
        """A zeroed array of numbers, aligned to a cache line."""
        if self.tangents:
            return aligned((*shape, 1 + self.tangents, self.width))
        return aligned(shape if self.width == 1 else (*shape, self.width))


class Features(NamedTuple):
    """What a model has beyond a tree of rigid bodies.  Code for features that a model does not have is not compiled."""
    flexible: bool = False      # some body has modes
    loops: bool = False         # some loop is closed
    holds: bool = False         # some coordinate can be locked or prescribed
    implicit: bool = False      # a property of the method, not the model: springs and modes are evaluated at the end of a stage
    drives: bool = False  # some coordinates are coupled or have friction; implies loops and holds, to add only one set of features
    tanks: bool = False         # some bodies have variable mass

    def __str__(self):
        return "+".join(name for name, needed in zip(self._fields, self, strict=True) if needed) or "rigid"


ALL_FEATURES = Features(True, True, True, drives=True, tanks=True)


class LanesType(types.Type):
    """The tag: number of states side by side, features, and whether numbers have tangents."""

    def __init__(self, width, features=Features(), tangents=0):  # noqa: B008
        self.width, self.features, self.tangents = width, features, tangents
        super().__init__(name=f"Lanes({width}, {features}{', dual'*tangents})")

    @property
    def number(self):
        return types.float64 if self.width == 1 else NumberType(self.width, self.tangents)


register_model(LanesType)(models.OpaqueModel)


@typeof_impl.register(Lanes)
def _typeof_lanes(value, context):
    return value._numba_type_


@unbox(LanesType)
def _unbox_lanes(typ, obj, c):
    return NativeValue(c.context.get_dummy_value())


# ---- the number ------------------------------------------------------------------------------------
class NumberType(types.Type):
    """`width` doubles side by side: one AVX register for four, LLVM splits wider ones.  With tangents it is a dual: additional
    registers, each a derivative of the first."""

    def __init__(self, width, tangents=0):
        self.width, self.tangents = width, tangents
        super().__init__(name=f"dual{width}x{tangents}" if tangents else f"number{width}")

    def _is_less(self, other):
        return isinstance(other, (types.Float, types.Integer)) or (
            isinstance(other, NumberType) and other.width == self.width and other.tangents < self.tangents)

    def can_convert_from(self, typingctx, other):
        if self._is_less(other):
            return Conversion.promote

    def unify(self, typingctx, other):
        if self._is_less(other):
            return self


@register_model(NumberType)
class _NumberModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _llvm(fe_type))


def _llvm(number):
    if number == types.int64:
        return _I64
    if number == types.float64:
        return _F64
    vector = ir.VectorType(_F64, number.width)
    return ir.LiteralStructType([vector]*(1 + number.tangents)) if number.tangents else vector


def _piece(number):
    """LLVM type of a value or of a tangent."""
    return _F64 if number == types.float64 else ir.VectorType(_F64, number.width)


def _splat(builder, x, width):
    vector = ir.VectorType(_F64, width)
    v = builder.insert_element(ir.Constant(vector, ir.Undefined), x, ir.Constant(_I32, 0))
    return builder.shuffle_vector(v, ir.Constant(vector, ir.Undefined),
                                  ir.Constant(ir.VectorType(_I32, width), [0] * width))


def _constant(number, c):
    """A constant, the same in every lane."""
    return ir.Constant(_piece(number), c if number == types.float64 else [c]*number.width)


def _pieces(context, builder, t, x, number):
    """[value] or [value, tangents ...] of a number of type t, as wide as those of `number`; without tangents it is constant."""
    if isinstance(t, NumberType):
        return [builder.extract_value(x, i) for i in range(1 + t.tangents)] if t.tangents else [x]
    x = context.cast(builder, x, t, types.float64)
    return [x if number == types.float64 else _splat(builder, x, number.width)]


def _whole(builder, number, pieces):
    """The number with these pieces; missing tangents are zero."""
    if number == types.float64 or not number.tangents:
        return pieces[0]
    value = ir.Constant(_llvm(number), ir.Undefined)
    for i, piece in enumerate([*pieces, *[_constant(number, 0.0)]*(1 + number.tangents - len(pieces))]):
        value = builder.insert_value(value, piece, i)
    return value


def _tangents(number, x, y, both, of_x, of_y):
    """Tangents of a function of x and y (pieces): `both` of their tangents, or that of the one that has any."""
    if len(x) > 1 and len(y) > 1:
        return [both(dx, dy) for dx, dy in zip(x[1:], y[1:])]
    return [of_x(dx) for dx in x[1:]] if len(x) > 1 else [of_y(dy) for dy in y[1:]]


def _combine(builder, number, instruction, x, y):
    """x + y, x - y, x y or x/y of pieces, by the rules of differentiation."""
    op = lambda name, a, b: getattr(builder, name)(a, b, flags=_FLAGS)
    if instruction == "fadd":
        return [op("fadd", x[0], y[0]), *_tangents(number, x, y, lambda a, b: op("fadd", a, b), lambda a: a, lambda b: b)]
    if instruction == "fsub":
        return [op("fsub", x[0], y[0]), *_tangents(number, x, y, lambda a, b: op("fsub", a, b), lambda a: a, builder.fneg)]
    if instruction == "fmul":
        return [op("fmul", x[0], y[0]), *_tangents(
            number, x, y, lambda a, b: op("fadd", op("fmul", x[0], b), op("fmul", a, y[0])),
            lambda a: op("fmul", a, y[0]), lambda b: op("fmul", x[0], b))]
    if len(y) == 1:
        return [op("fdiv", piece, y[0]) for piece in x]
    inverse = op("fdiv", _constant(number, 1.0), y[0])
    value = op("fmul", x[0], inverse)
    less = builder.fneg(op("fmul", value, inverse))
    return [value, *_tangents(number, x, y, lambda a, b: op("fadd", op("fmul", a, inverse), op("fmul", less, b)),
                              lambda a: op("fmul", a, inverse), lambda b: op("fmul", less, b))]


def _chosen(builder, condition, number, x, y):
    """x or y (pieces), selected by a condition on values."""
    more = lambda pieces: [*pieces, *[_constant(number, 0.0)]*(max(len(x), len(y)) - len(pieces))]
    return [builder.select(condition, a, b) for a, b in zip(more(x), more(y))]


@lower_cast(types.Float, NumberType)
@lower_cast(types.Integer, NumberType)
@lower_cast(NumberType, NumberType)
def _promote(context, builder, fromty, toty, value):
    return _whole(builder, toty, _pieces(context, builder, fromty, value, toty))


def _register_binary(op, instruction):
    @infer_global(op)
    class _Binary(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and any(isinstance(a, NumberType) for a in args) and all(_is_number(a) for a in args):
                return signature(_result_type(*args), *[a if isinstance(a, NumberType) else types.float64 for a in args])

    def lower(context, builder, sig, args):
        number = sig.return_type
        x, y = (_pieces(context, builder, t, v, number) for t, v in zip(sig.args, args))
        return _whole(builder, number, _combine(builder, number, instruction, x, y))

    for signature_ in ((NumberType, NumberType), (NumberType, types.Float), (types.Float, NumberType)):
        lower_builtin(op, *signature_)(lower)


for _op, _iop, _instruction in ((operator.add, operator.iadd, "fadd"), (operator.sub, operator.isub, "fsub"),
                                (operator.mul, operator.imul, "fmul"),
                                (operator.truediv, operator.itruediv, "fdiv")):
    _register_binary(_op, _instruction)
    _register_binary(_iop, _instruction)


@infer_global(operator.neg)
class _Negate(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], NumberType):
            return signature(args[0], args[0])


@lower_builtin(operator.neg, NumberType)
def _negate(context, builder, sig, args):
    number = sig.return_type
    return _whole(builder, number, [builder.fneg(piece) for piece in _pieces(context, builder, number, args[0], number)])


# ---- tables: arrays of which only the address is used ---------------------------------------------------
class TableType(types.Type):
    """Address of the first entry of a table.  A table of rank 2 has an entry for each of four lanes, of rank 3 four and their
    tangents."""

    def __init__(self, dtype, ndim=1):
        self.dtype, self.ndim = dtype, ndim
        super().__init__(name=f"Table({dtype}, {ndim})")


@register_model(TableType)
class _TableModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _llvm(fe_type.dtype).as_pointer())


def data_of(context, builder, t, value):
    """Pointer to the first entry of a table or an array."""
    return value if isinstance(t, TableType) else context.make_array(t)(context, builder, value).data


@intrinsic
def pointer_to(typingctx, array):
    """An array as a table; a table of duals keeps its rank."""
    table = TableType(array.dtype, 3 if array.ndim == 3 else 1)
    return table(array), lambda context, builder, sig, args: data_of(context, builder, array, args[0])


@intrinsic
def flat(typingctx, array):
    """The entries of an array of any rank, as a 1-D table."""
    return TableType(array.dtype)(array), lambda context, builder, sig, args: data_of(context, builder, array, args[0])


@intrinsic
def put(typingctx, table, index, value):
    """Set an entry of a table."""
    def codegen(context, builder, sig, args):
        builder.store(args[2], builder.gep(args[0], [args[1]], source_etype=_F64), align=8)
        return context.get_dummy_value()
    return types.void(table, types.int64, types.float64), codegen


@intrinsic
def parameters_of(typingctx, pars, group):
    """Parameters of a group of states, as a table: the group's own row, or the last one if there is one for all."""
    def codegen(context, builder, sig, args):
        whole = context.make_array(pars)(context, builder, args[0])
        last = builder.sub(builder.extract_value(whole.shape, 0), ir.Constant(_I64, 1))
        row = builder.select(builder.icmp_signed("<", args[1], last), args[1], last)
        return builder.gep(whole.data, [builder.mul(row, builder.extract_value(whole.shape, 1))])
    return TableType(pars.dtype)(pars, types.int64), codegen


def _width(ws):
    return 1 if ws.ndim == 1 else 4


def _ranked_tangents(ws):
    return 1 if ws.ndim == 3 else 0


def _tag_of_sweep_table(context, builder, sig, args):
    return builder.bitcast(data_of(context, builder, sig.args[1], args[1]), ir.IntType(8).as_pointer())


@intrinsic
def lanes_of(typingctx, ws, sweep_table):
    """The tag for a workspace (1-D: one state, 2-D: four, 3-D: four with tangents); its value is the address of the sweep
    table."""
    return LanesType(_width(ws), ALL_FEATURES, _ranked_tangents(ws))(ws, sweep_table), _tag_of_sweep_table


@intrinsic
def implicit_lanes_of(typingctx, ws, sweep_table):
    """lanes_of for kernels of implicit methods."""
    return LanesType(_width(ws), ALL_FEATURES._replace(implicit=True))(ws, sweep_table), _tag_of_sweep_table


@intrinsic
def lanes_like(typingctx, ws):
    """The tag for a workspace, in kernels that call no sweeps."""
    return LanesType(_width(ws))(ws), lambda context, builder, sig, args: context.get_dummy_value()


CHOICES: dict = {}                                  # by function: when code has it, and what stands in its place


def specialize(needed, full, otherwise):
    """Register `full` for kernels whose tag needs it; others use `otherwise`."""
    CHOICES[full] = needed, otherwise
    @overload(full, strict=False, jit_options=INLINED)
    def choose(lane, *args):
        return full if needed(lane) else otherwise
    return full


def nothing(lane, *args):
    return None


def only(needed):
    """A decorator for functions that are compiled only into code whose tag is `needed`; other code calls `otherwise`, with the same
    arguments, in their place (by default it does nothing)."""
    def decorate(full=None, otherwise=nothing):
        if full is None:
            return lambda function: specialize(needed, function, otherwise)
        return specialize(needed, full, otherwise)
    return decorate


flexible_only = only(lambda lane: lane.features.flexible)
loops_only = only(lambda lane: lane.features.loops)
flexible_loops_only = only(lambda lane: lane.features.flexible and lane.features.loops)
holds_only = only(lambda lane: lane.features.holds)
loops_holds_only = only(lambda lane: lane.features.loops and lane.features.holds)
implicit_only = only(lambda lane: lane.features.implicit)
couplings_only = friction_only = only(lambda lane: lane.features.drives)
tanks_only = only(lambda lane: lane.features.tanks)
one_state_only = only(lambda lane: lane.width == 1)
duals_only = only(lambda lane: getattr(lane, "tangents", 0) > 0)


@intrinsic
def quads_of(typingctx, array):
    """The tag that processes an array four doubles at a time, whatever its lanes: of four states or four consecutive numbers; or
    four duals."""
    tag = LanesType(4, tangents=_ranked_tangents(array))
    return tag(array), lambda context, builder, sig, args: context.get_dummy_value()


@intrinsic
def single_of(typingctx, lanes):
    """The tag of one state with the same features, for numbers in a workspace of their own; it calls no sweeps."""
    return LanesType(1, lanes.features)(lanes), lambda context, builder, sig, args: args[0]


@intrinsic
def zero(typingctx, lanes):
    """The number 0."""
    def codegen(context, builder, sig, args):
        return _whole(builder, lanes.number, [_constant(lanes.number, 0.0)])
    return lanes.number(lanes), codegen


def _with_aligned_stack(*names):
    def codegen(context, builder, sig, args):
        for name in names:
            builder.function.attributes.add(name)
        builder.function.attributes.alignstack = 64
        return context.get_dummy_value()
    return codegen


@intrinsic
def align_stack(typingctx):
    """Call first in every kernel: aligns spilled SIMD registers on the stack.

    LLVM realigns the stack of a function only if asked before register allocation; without this the speed of a kernel varies by a
    quarter from run to run, with the address of the stack."""
    return types.void(), _with_aligned_stack("nounwind")               # llvmlite drops alignstack from an empty set


@intrinsic
def noinline(typingctx):
    """Call first in every sweep: LLVM then does not inline it.  Its stack is aligned as in a kernel."""
    return types.void(), _with_aligned_stack("noinline", "nounwind")


# ---- load and store: raw pointers, no bounds checks ------------------------------------------------------
def _doubles(number):
    """Number of doubles that a number takes in memory."""
    return getattr(number, "width", 1)*(1 + getattr(number, "tangents", 0))


def _addresses(context, builder, array_type, array, index, number):
    """Pointers to the pieces of the numbers at index, index + 1, ..."""
    data = data_of(context, builder, array_type, array)
    size, entry = _doubles(number), _I64 if number == types.int64 else _F64
    piece = entry if number == types.int64 else _piece(number)
    first = builder.mul(index, ir.Constant(_I64, size))
    for i in itertools.count():
        found = []
        for j in range(1 + getattr(number, "tangents", 0)):
            position = builder.add(first, ir.Constant(_I64, i*size + j*getattr(number, "width", 1)))
            found.append(builder.bitcast(builder.gep(data, [position], source_etype=entry), piece.as_pointer()))
        yield found


def _fetch(builder, number, address):
    """Load the number at an address.  No kernel writes a table of integers: a store to memory does not make them load again."""
    if number == types.int64:
        value = builder.load(address[0], typ=_I64, align=8)
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value
    return _whole(builder, number, [builder.load(a, typ=_piece(number), align=8) for a in address])


def _lane_address(context, builder, sig, args, number, tangent=0):
    data = data_of(context, builder, sig.args[1], args[1])
    at = builder.mul(args[2], ir.Constant(_I64, _doubles(number)))
    element = builder.add(builder.add(at, args[3]), ir.Constant(_I64, tangent*getattr(number, "width", 1)))
    return builder.gep(data, [element], source_etype=_F64)


def _nested(number, shape):
    """Tuple type of a shape: 1 a number, n a tuple of n numbers, (m, n, ...) a tuple of tuples."""
    if isinstance(shape, int):
        return number if shape == 1 else types.UniTuple(number, shape)
    return types.BaseTuple.from_types([_nested(number, s) for s in shape])


def _load_nested(context, builder, t, addresses):
    if _is_number(t):
        return _fetch(builder, t, next(addresses))
    return context.make_tuple(builder, t, [_load_nested(context, builder, x, addresses) for x in t])


def _leaves(context, builder, t, value, number):
    """The numbers of a nested tuple in order, as pieces."""
    if _is_number(t):
        yield _pieces(context, builder, t, value, number)
    else:
        for i, x in enumerate(t):
            yield from _leaves(context, builder, x, builder.extract_value(value, i), number)


def _make_load(shape):
    @intrinsic
    def load(typingctx, lanes, array, index):
        """The numbers from `index` on, as a tuple of the shape in the name of this function."""
        def codegen(context, builder, sig, args):
            return _load_nested(context, builder, sig.return_type,
                                _addresses(context, builder, sig.args[1], args[1], args[2], lanes.number))
        return _nested(lanes.number, shape)(lanes, array, types.int64), codegen
    return load


def _make_read(shape):
    @intrinsic
    def read(typingctx, table, index):
        """Entries of a model table from `index` on: floats of a 2-D table are one for each lane, of a 3-D one duals; all else is
        the same in all."""
        number = NumberType(4, table.ndim - 2) if table.ndim >= 2 and table.dtype == types.float64 else table.dtype

        def codegen(context, builder, sig, args):
            return _load_nested(context, builder, sig.return_type,
                                _addresses(context, builder, sig.args[0], args[0], args[1], number))
        return _nested(number, shape)(table, types.int64), codegen
    return read


load, load3, load4, load5, load6, load9 = (_make_load(n) for n in (1, 3, 4, 5, 6, 9))
load_spatial, load_gathered = (_make_load(s) for s in ((3, 3), ((6, 9, 6), (3, 3))))
load_composite, load_mass, load_dozen = (_make_load(s) for s in ((6, 3, 1), (6, 3), (3, 3, 3, 3)))
read, read3, read6, read9 = (_make_read(n) for n in (1, 3, 6, 9))
read_spatial = _make_read((3, 3))


@intrinsic
def read_pack(typingctx, lanes, table, index):
    """Pack `index` of a model table: for one state four neighbors, for four states one entry, as `read` has it."""
    number = NumberType(4, max(table.ndim - 2, 0)) if lanes.width == 1 or table.ndim >= 2 else table.dtype

    def codegen(context, builder, sig, args):
        return _load_nested(context, builder, sig.return_type,
                            _addresses(context, builder, sig.args[1], args[1], args[2], number))
    return number(lanes, table, types.int64), codegen


@intrinsic
def store(typingctx, lanes, array, index, value):
    """Store a number, or the numbers of a nested tuple, from `index` on."""
    def codegen(context, builder, sig, args):
        addresses = _addresses(context, builder, sig.args[1], args[1], args[2], lanes.number)
        for pieces in _leaves(context, builder, value, args[3], lanes.number):
            for a, x in itertools.zip_longest(next(addresses), pieces, fillvalue=_constant(lanes.number, 0.0)):
                builder.store(x, a, align=8)
        return context.get_dummy_value()
    return types.void(lanes, array, types.int64, value), codegen


@intrinsic
def accumulate(typingctx, lanes, array, index, value):
    """Add a number, or the numbers of a nested tuple, to those from `index` on."""
    def codegen(context, builder, sig, args):
        addresses = _addresses(context, builder, sig.args[1], args[1], args[2], lanes.number)
        for pieces in _leaves(context, builder, value, args[3], lanes.number):
            for a, x in zip(next(addresses), pieces):
                builder.store(builder.fadd(builder.load(a, typ=_piece(lanes.number), align=8), x, flags=_FLAGS), a, align=8)
        return context.get_dummy_value()
    return types.void(lanes, array, types.int64, value), codegen


@intrinsic
def get_lane(typingctx, lanes, array, index, lane):
    """The number at `index` in one lane, as a float: for branches on its value (tables, callbacks)."""
    def codegen(context, builder, sig, args):
        return builder.load(_lane_address(context, builder, sig, args, lanes.number), align=8)
    return types.float64(lanes, array, types.int64, types.int64), codegen


@intrinsic
def put_lane(typingctx, lanes, array, index, lane, value):
    """Set the number at `index` in one lane; or, given a (nested) tuple of floats, those from `index` on.  Their tangents are
    zero."""
    def codegen(context, builder, sig, args):
        for i, (x,) in enumerate(_leaves(context, builder, value, args[4], types.float64)):
            at = builder.add(args[2], ir.Constant(_I64, i))
            for j in range(1 + lanes.tangents):
                address = _lane_address(context, builder, sig, (*args[:2], at, args[3]), lanes.number, j)
                builder.store(ir.Constant(_F64, 0.0) if j else x, address, align=8)
        return context.get_dummy_value()
    return types.void(lanes, array, types.int64, types.int64, value), codegen


@intrinsic
def add_lane(typingctx, lanes, array, index, lane, value):
    """Add a constant to the number at `index` in one lane."""
    def codegen(context, builder, sig, args):
        address = _lane_address(context, builder, sig, args, lanes.number)
        builder.store(builder.fadd(builder.load(address, align=8), args[4], flags=_FLAGS), address, align=8)
        return context.get_dummy_value()
    return types.void(lanes, array, types.int64, types.int64, types.float64), codegen


@intrinsic
def get_tangent(typingctx, lanes, array, index, lane):
    """The tangent of the number at `index` in one lane."""
    def codegen(context, builder, sig, args):
        return builder.load(_lane_address(context, builder, sig, args, lanes.number, 1), align=8)
    return types.float64(lanes, array, types.int64, types.int64), codegen


@intrinsic
def put_tangent(typingctx, lanes, array, index, lane, value):
    """Set it."""
    def codegen(context, builder, sig, args):
        builder.store(args[4], _lane_address(context, builder, sig, args, lanes.number, 1), align=8)
        return context.get_dummy_value()
    return types.void(lanes, array, types.int64, types.int64, types.float64), codegen


@intrinsic
def follow(typingctx, value, x_rate, x, y_rate, y):
    """A value computed elsewhere, with the tangents of a function of x and y with these partial derivatives."""
    number = _result_type(_result_type(value, x), y)

    def codegen(context, builder, sig, args):
        of, x_r, x_, y_r, y_ = (_pieces(context, builder, t, a, number) for t, a in zip(sig.args, args))
        by_x, by_y = _combine(builder, number, "fmul", x_r[:1], x_), _combine(builder, number, "fmul", y_r[:1], y_)
        return _whole(builder, number, [of[0], *_combine(builder, number, "fadd", by_x, by_y)[1:]])
    return number(value, x_rate, x, y_rate, y), codegen


@intrinsic
def tangent_of(typingctx, x):
    """The tangent of a dual, as a plain number."""
    def codegen(context, builder, sig, args):
        return _pieces(context, builder, x, args[0], x)[1]
    return NumberType(x.width)(x), codegen


@intrinsic
def width_of(typingctx, lanes):
    """Number of states in the lanes."""
    return types.int64(lanes), lambda context, builder, sig, args: ir.Constant(_I64, lanes.width)


# ---- elementwise arithmetic on nested tuples of numbers ---------------------------------------------
def _is_number(t):
    return isinstance(t, (types.Float, types.Integer, NumberType))


def _result_type(a, b):
    if _is_number(a) and _is_number(b):
        if isinstance(a, NumberType) and isinstance(b, NumberType):
            return a if a.tangents >= b.tangents else b
        return a if isinstance(a, NumberType) else b if isinstance(b, NumberType) else types.float64
    if len(a) != len(b):
        raise TypeError(f"shapes differ: {a} and {b}")
    return types.BaseTuple.from_types([_result_type(x, y) for x, y in zip(a, b)])


def _elementwise(context, builder, instruction, ta, a, tb, b, to):
    """An instruction on two numbers, or on the entries of nested tuples; a number goes with every entry of a tuple."""
    if _is_number(to):
        x, y = _pieces(context, builder, ta, a, to), _pieces(context, builder, tb, b, to)
        return _whole(builder, to, _combine(builder, to, instruction, x, y))
    entry = lambda t, x, i: (t, x) if _is_number(t) else (t[i], builder.extract_value(x, i))
    return context.make_tuple(builder, to, [
        _elementwise(context, builder, instruction, *entry(ta, a, i), *entry(tb, b, i), to[i]) for i in range(len(to))])


def _elementwise_codegen(instruction):
    return lambda context, builder, sig, args: _elementwise(
        context, builder, instruction, sig.args[0], args[0], sig.args[1], args[1], sig.return_type)


@intrinsic
def add(typingctx, a, b):
    """a + b for numbers and for (nested) tuples of numbers of equal shape."""
    return _result_type(a, b)(a, b), _elementwise_codegen("fadd")


@intrinsic
def sub(typingctx, a, b):
    """a - b for numbers and for (nested) tuples of numbers of equal shape."""
    return _result_type(a, b)(a, b), _elementwise_codegen("fsub")


def _scaled_type(s, a):
    if _is_number(a):
        return _result_type(s, a)
    return types.BaseTuple.from_types([_scaled_type(s, x) for x in a])


@intrinsic
def scale(typingctx, s, a):
    """s a for a number s and a (nested) tuple of numbers a."""
    return _scaled_type(s, a)(s, a), _elementwise_codegen("fmul")


@intrinsic
def smaller(typingctx, a, b):
    """The smaller of two numbers, lane by lane."""
    number = _result_type(a, b)

    def codegen(context, builder, sig, args):
        x, y = _pieces(context, builder, a, args[0], number), _pieces(context, builder, b, args[1], number)
        return _whole(builder, number, _chosen(builder, builder.fcmp_ordered("<", x[0], y[0]), number, x, y))
    return number(a, b), codegen


@intrinsic
def where_positive(typingctx, x, a, b):
    """a where x > 0, b elsewhere, lane by lane."""
    number = _result_type(_result_type(x, a), b)

    def codegen(context, builder, sig, args):
        x_, a_, b_ = (_pieces(context, builder, t, value, number) for value, t in zip(args, sig.args))
        positive = builder.fcmp_ordered(">", x_[0], _constant(number, 0.0))
        return _whole(builder, number, _chosen(builder, positive, number, a_, b_))
    return number(x, a, b), codegen


@intrinsic
def any_negative(typingctx, x):
    """Whether a number is negative in some lane."""
    def codegen(context, builder, sig, args):
        if not isinstance(x, NumberType):
            return builder.fcmp_ordered("<", args[0], ir.Constant(_F64, 0.0))
        below = builder.fcmp_ordered("<", _pieces(context, builder, x, args[0], x)[0], _constant(x, 0.0))
        bits = builder.bitcast(below, ir.IntType(x.width))
        return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(x.width), 0))
    return types.boolean(x), codegen


@intrinsic
def inverse_above(typingctx, x, least):
    """1/x where x > least, 0 elsewhere, lane by lane."""
    number = _result_type(x, least)

    def codegen(context, builder, sig, args):
        a, b = _pieces(context, builder, x, args[0], number), _pieces(context, builder, least, args[1], number)
        one, zero_ = _constant(number, 1.0), _constant(number, 0.0)
        value = builder.select(builder.fcmp_ordered(">", a[0], b[0]), builder.fdiv(one, a[0]), zero_)
        less = builder.fneg(builder.fmul(value, value))
        return _whole(builder, number, [value, *(builder.fmul(less, da) for da in a[1:])])
    return number(x, least), codegen


# ---- a register of four with a vector of one state -----------------------------------------------
_QUAD = ir.VectorType(_F64, 4)


def _shuffled(builder, a, b, places):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_I32, 4), places))


@intrinsic
def load_four(typingctx, table, index):
    """Four consecutive numbers of one state, from any `index` on."""
    def codegen(context, builder, sig, args):
        at = builder.gep(data_of(context, builder, sig.args[0], args[0]), [args[1]], source_etype=_F64)
        return builder.load(builder.bitcast(at, _QUAD.as_pointer()), typ=_QUAD, align=8)
    return NumberType(4)(table, types.int64), codegen


@intrinsic
def register(typingctx, u):
    """A register from a tuple of up to four floats, padded with zeros."""
    def codegen(context, builder, sig, args):
        value = ir.Constant(_QUAD, [0.0]*4)
        for i, (x,) in enumerate(_leaves(context, builder, u, args[0], types.float64)):
            value = builder.insert_element(value, x, ir.Constant(_I32, i))
        return value
    return NumberType(4)(u), codegen


@intrinsic
def store_four(typingctx, table, index, value):
    """Store a register at any `index` of a table."""
    def codegen(context, builder, sig, args):
        at = builder.gep(args[0], [args[1]], source_etype=_F64)
        builder.store(args[2], builder.bitcast(at, _QUAD.as_pointer()), align=8)
        return context.get_dummy_value()
    return types.void(table, types.int64, NumberType(4)), codegen


def _make_unpack(n):
    @intrinsic
    def unpack(typingctx, u):
        """The first floats of a register."""
        def codegen(context, builder, sig, args):
            return context.make_tuple(builder, sig.return_type, [builder.extract_element(args[0], ir.Constant(_I32, i))
                                                                 for i in range(n)])
        return types.UniTuple(types.float64, n)(u), codegen
    return unpack


unpack3, unpack4 = _make_unpack(3), _make_unpack(4)


@intrinsic
def cycle(typingctx, u):
    """(y, z, x, ...) of a register (x, y, z, ...)."""
    return u(u), lambda context, builder, sig, args: _shuffled(builder, args[0], args[0], [1, 2, 0, 3])


def _make_transpose(n):
    @intrinsic
    def transpose(typingctx, a, b, c, d):
        """The first n columns of the matrix whose rows are four registers."""
        def codegen(context, builder, sig, args):
            a_, b_, c_, d_ = args
            even = _shuffled(builder, a_, b_, [0, 4, 2, 6]), _shuffled(builder, c_, d_, [0, 4, 2, 6])
            odd = _shuffled(builder, a_, b_, [1, 5, 3, 7]), _shuffled(builder, c_, d_, [1, 5, 3, 7])
            columns = (even, [0, 1, 4, 5]), (odd, [0, 1, 4, 5]), (even, [2, 3, 6, 7]), (odd, [2, 3, 6, 7])
            return context.make_tuple(builder, sig.return_type, [_shuffled(builder, *pair, places) for pair, places in columns[:n]])
        return types.UniTuple(a, n)(a, b, c, d), codegen
    return transpose


across, transposed = _make_transpose(3), _make_transpose(4)


@intrinsic
def total(typingctx, u):
    """The sum of the numbers of a register of four."""
    def codegen(context, builder, sig, args):
        halves = builder.fadd(args[0], _shuffled(builder, args[0], args[0], [2, 3, 0, 1]), flags=_FLAGS)
        first, second = (builder.extract_element(halves, ir.Constant(_I32, i)) for i in range(2))
        return builder.fadd(first, second, flags=_FLAGS)
    return types.float64(u), codegen


# ---- arrays passed by a caller: faster to check in a kernel than in Python ---------------------------------------
class Given:
    """Any object passed by a caller, in the signature of a kernel."""


class GivenType(types.Type):
    """An unexamined Python object."""

    def __init__(self):
        super().__init__(name="Given")


register_model(GivenType)(models.OpaqueModel)
GIVEN = Given()
PLAIN = np.array([id(np.ndarray), id(np.dtype(np.float64))])        # addresses of the types that plain arrays have


@typeof_impl.register(Given)
def _typeof_given(value, context):
    return GivenType()


@unbox(GivenType)
def _unbox_given(typ, obj, c):
    return NativeValue(obj)


@intrinsic
def take_given(typingctx, table, first, given, plain, n):
    """Copy n consecutive doubles of a 1-D NumPy array to a table, from `first` on; False if the object is anything else.

    Reads NumPy's header, by its published binary interface: data, number of axes, lengths, strides, base, dtype."""
    header = object.__basicsize__                                   # of any object, its type last

    def codegen(context, builder, sig, args):
        to, start, obj, known, count = args
        field = lambda offset, t: builder.load(builder.bitcast(
            builder.gep(obj, [ir.Constant(_I64, offset)], source_etype=ir.IntType(8)), t.as_pointer()), typ=t)
        same = lambda offset, i: builder.icmp_unsigned("==", field(offset, _I64), builder.load(
            builder.gep(known, [ir.Constant(_I64, i)], source_etype=_I64), typ=_I64))
        first_of = lambda offset: builder.load(builder.inttoptr(field(offset, _I64), _I64.as_pointer()), typ=_I64)
        taken = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), 0))
        with builder.if_then(same(header - 8, 0)):
            one_axis = builder.icmp_signed("==", field(header + 8, _I32), ir.Constant(_I32, 1))
            with builder.if_then(builder.and_(same(header + 40, 1), one_axis)):
                near = builder.or_(builder.icmp_signed("==", first_of(header + 24), ir.Constant(_I64, 8)),
                                   builder.icmp_signed("==", count, ir.Constant(_I64, 1)))
                with builder.if_then(builder.and_(builder.icmp_signed("==", first_of(header + 16), count), near)):
                    source = builder.inttoptr(field(header, _I64), ir.IntType(8).as_pointer())
                    target = builder.bitcast(builder.gep(to, [start], source_etype=_F64), ir.IntType(8).as_pointer())
                    cgutils.raw_memcpy(builder, target, source, count, 8)
                    builder.store(ir.Constant(ir.IntType(1), 1), taken)
        return builder.load(taken)
    return types.boolean(table, types.int64, given, plain, types.int64), codegen


# ---- square root -------------------------------------------------------------------------------------
@intrinsic
def sqrt(typingctx, x):
    """Square root of a number; that of zero has zero tangent."""
    number = x if isinstance(x, NumberType) else types.float64

    def codegen(context, builder, sig, args):
        t = _piece(number)
        suffix = "f64" if number == types.float64 else f"v{number.width}f64"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(t, [t]), f"llvm.sqrt.{suffix}")
        value, *tangents = _pieces(context, builder, number, args[0], number)
        root = builder.call(function, [value])
        if tangents:
            positive = builder.fcmp_ordered(">", root, _constant(number, 0.0))
            slope = builder.select(positive, builder.fdiv(_constant(number, 0.5), root), _constant(number, 0.0))
            tangents = [builder.fmul(slope, t) for t in tangents]
        return _whole(builder, number, [root, *tangents])
    return number(number), codegen


# ---- sine and cosine: Cody-Waite reduction and the fdlibm polynomials, branch-free -------------------
_SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)
_COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)


@intrinsic
def sincos(typingctx, angle):
    """(sin, cos) of a number; accurate to about 1 ulp for |angle| < 1e5."""
    number = angle if isinstance(angle, NumberType) else types.float64

    def codegen(context, b, sig, args):
        if number == types.float64:
            vector, integers, suffix = _F64, _I64, "f64"
            real, integer = (lambda c: ir.Constant(_F64, c)), (lambda c: ir.Constant(_I64, c))
        else:
            w = number.width
            vector, integers, suffix = ir.VectorType(_F64, w), ir.VectorType(_I64, w), f"v{w}f64"
            real, integer = (lambda c: ir.Constant(vector, [c] * w)), (lambda c: ir.Constant(integers, [c] * w))
        fma_function = cgutils.get_or_insert_function(b.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.{suffix}")
        fma = lambda p, q, r: b.call(fma_function, [p, q, r])
        x, *tangents = _pieces(context, b, number, args[0], number)
        magic = real(6755399441055744.0)                     # 1.5 * 2**52: rounds to integer, low bits = quadrant
        t = fma(x, real(2 / math.pi), magic)
        quadrant = b.bitcast(t, integers)
        k = b.fsub(t, magic)
        y = fma(k, real(-6.123233995736766e-17), fma(k, real(-1.5707963267948966), x))
        z = b.fmul(y, y)
        p = real(_SIN[5])
        for c in _SIN[4::-1]:
            p = fma(p, z, real(c))
        s = fma(b.fmul(p, z), y, y)
        p = real(_COS[5])
        for c in _COS[4::-1]:
            p = fma(p, z, real(c))
        c = fma(b.fmul(z, z), p, fma(z, real(-0.5), real(1.0)))
        swap = b.icmp_signed("!=", b.and_(quadrant, integer(1)), integer(0))
        sign_s = b.shl(b.and_(quadrant, integer(2)), integer(62))
        sign_c = b.shl(b.and_(b.add(quadrant, integer(1)), integer(2)), integer(62))
        flip = lambda v, sign: b.bitcast(b.xor(b.bitcast(v, integers), sign), vector)
        sine, cosine = flip(b.select(swap, c, s), sign_s), flip(b.select(swap, s, c), sign_c)
        less = b.fneg(sine)
        return context.make_tuple(b, sig.return_type, [
            _whole(b, number, [sine, *(b.fmul(cosine, t, flags=_FLAGS) for t in tangents)]),
            _whole(b, number, [cosine, *(b.fmul(less, t, flags=_FLAGS) for t in tangents)])])
    return types.UniTuple(number, 2)(number), codegen


ONE, FOUR, DUAL = Lanes(1), Lanes(4), Lanes(4, 1)


# ---- the same in plain Python, for debuggers and coverage: NUMBA_DISABLE_JIT=1 -----------------------------
if config.DISABLE_JIT:
    from bough.kernels.plain import *  # noqa: F403
