"""The recursion over links: its coordinates, what it leaves out, and that it may be run again and again."""
import numpy as np
import pytest

from bough.analyze.operators.articulated_links import articulate, packed, packs, pairs, rows_of
from bough.bench.mechanisms import chain
from bough.sweeps import riccati as f
from tests.support.compare import assert_same, solved_scale, solving
from tests.support.operator_states import NAMES, RELATIVE, beam_tree, states


def forms(ops):
    return articulate(ops.links, ops._free_maps), articulate(ops.links, ops._free_maps, as_written=True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("whole", [False, True])
def test_structure_changes_nothing(name, whole):
    model, q, v = states()[name]
    ops = model.operators(q, v, whole=whole)
    M = model.mass_matrix(q)[np.ix_(model.free, model.free)]
    exact = solving(M, RELATIVE)
    ours, written = forms(ops)
    scale = max((np.abs(P).max() for P in written.P), default=0.0)
    for of in ("P", "D"):
        for mine, theirs in zip(getattr(ours, of), getattr(written, of), strict=True):
            assert_same(mine, theirs, exact, scale=scale)
    tau = np.random.default_rng(3).normal(size=len(M))
    order = np.concatenate([np.zeros(0, int), *ops._free_speeds])
    scale = solved_scale(M[np.ix_(order, order)], tau).max(initial=0.0)
    assert_same(ours.solve(tau), written.solve(tau), exact, scale=scale)


def test_hinges_of_a_joint_share_the_coordinates_of_their_body():
    model = chain(2, ("bushing",)).compile()
    ops = model.operators(model.q0 + 0.1)
    done = packed(ops.links.links, ops._free_maps)
    assert [bool(row[f.DIRECT]) for row in done.table] == [False, *([False] + [True]*5)*2]     # the base, and twice six hinges
    assert len(set(done.table[1:7, f.VECTOR])) == 1
    assert (done.table[1:, f.FORM] == f.HINGED).all()


def test_own_coordinates_are_speeds_also_where_modes_move_the_inboard_node():
    model = beam_tree().compile()
    ops = model.operators(model.q0, whole=True)
    done = packed(ops.links.links, ops._free_maps)
    flexible = {link.body: (row, link) for row, link in zip(done.table, ops.links.links, strict=True) if link.size > 6}
    assert set(flexible) == {"panel", "mast"}
    for row, link in flexible.values():
        assert row[f.OWN] == link.size - 6
        assert row[f.SPEEDS] == row[f.OWN] + 2
    assert flexible["mast"][1].H[:, -6:][:flexible["mast"][0][f.OWN]].any()            # its modes move its inboard node


@pytest.mark.parametrize("whole", [False, True])
def test_padding_stays_zero_and_factors_can_be_made_again(whole):
    model = beam_tree().compile()
    ops = model.operators(model.q0 + 0.01, whole=whole)
    done = articulate(ops.links, ops._free_maps).packed
    for row in done.table:
        n, u, m = row[[f.SPEEDS, f.OWN, f.CARRIED]]
        P, gains = rows_of(done.ws, row[f.ARTICULATED], u + m, u, m), rows_of(done.ws, row[f.GAINS], n, 0, m)
        assert not P[:, 4*packs(u) + m:].any()
        assert not P[:, u:4*packs(u)].any()
        assert not gains[:, m:].any()
        assert P.shape[1] == 4*(packs(u) + pairs(m))
    before = done.ws.copy()
    f.riccati(done.table, done.scratch, done.ws)
    np.testing.assert_array_equal(done.ws, before)

