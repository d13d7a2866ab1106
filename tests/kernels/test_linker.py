"""How kernels are compiled, linked and kept: failures, threads, the cache on disk, other number types, and `bough warmup`."""
import errno
import os
import re
import subprocess
import sys
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import types
from numba.core.codegen import CPUCodegen, CPUCodeLibrary
from numba.core.cpu import CPUContext
from numba.core.types.functions import BaseFunction

import bough
import bough.sweeps
from bough.cli import main
from bough.errors import BoughError
from bough.kernels import jit, linker
from bough.kernels.jit import DiskCache, cached, compiling, kernel, leaf, unsafe
from bough.kernels.lanes import Features, lanes_like
from bough.warmup import compile_job, feature_sets, warm_up
from tests.support.tolerance import FORMULA, SWEEP

HOME = Path(__file__).resolve().parents[2]


def pendulum(**joint):
    s = bough.System("pendulum", gravity=(0, 0, -9.81))
    s.body("bob", joint=bough.Revolute("y", **joint), mass=2.0, com=(0, 0, -1.0), inertia=(0.1, 0.1, 0.1))
    s.body("tip", parent="bob", joint=bough.Revolute("x"), at=(0, 0, -1.0), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    return s.compile()


def run_python(script, *arguments, **environment):
    paths = [str(HOME / "src"), str(HOME), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment})
    assert done.returncode == 0, done.stderr
    return done


# ---- features ------------------------------------------------------------------------------------------------------
def test_tables_name_what_is_compiled_for_them():
    assert pendulum().tables.features == Features()
    held = pendulum(motion=bough.motion.Polynomial([0.1, 0.2]))
    assert held.tables.features == Features(holds=True)
    assert (str(Features()), str(Features(flexible=True, holds=True))) == ("rigid", "flexible+holds")


# ---- failures --------------------------------------------------------------------------------------------------------
def test_what_fails_while_linking_is_raised_and_leaves_nothing_behind(monkeypatch):
    model, state = pendulum(), ([0.3, 0.1], [1.0, 2.0])
    expected = model.forward_dynamics(*state, method="order-n")
    compiled = linker.compiled_address
    monkeypatch.setattr(linker, "_tables", {})                          # a process that has linked nothing yet

    def broken(sweep, *args):
        if sweep.__name__ == "solve_order_n":
            raise MemoryError("no room for solve_order_n")
        return compiled(sweep, *args)
    monkeypatch.setattr(linker, "compiled_address", broken)
    for _ in range(2):                                                  # nothing that failed is taken for linked
        with pytest.raises(MemoryError, match="no room for solve_order_n"):
            model.forward_dynamics(*state, method="order-n")
    monkeypatch.setattr(linker, "compiled_address", compiled)
    np.testing.assert_array_equal(model.forward_dynamics(*state, method="order-n"), expected)


def test_a_failure_is_raised_in_the_thread_that_met_it(monkeypatch):
    model, state, found = pendulum(), ([0.3, 0.1], [1.0, 2.0]), {}
    expected = model.forward_dynamics(*state, method="order-n")
    compiled, main_thread = linker.compiled_address, threading.get_ident()
    monkeypatch.setattr(linker, "_tables", {})

    def broken_elsewhere(sweep, *args):
        if threading.get_ident() != main_thread:
            raise KeyboardInterrupt
        return compiled(sweep, *args)
    monkeypatch.setattr(linker, "compiled_address", broken_elsewhere)

    def elsewhere():
        try:
            found["a"] = model.forward_dynamics(*state, method="order-n")
        except KeyboardInterrupt:
            found["interrupted"] = True
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == {"interrupted": True}
    np.testing.assert_array_equal(model.forward_dynamics(*state, method="order-n"), expected)


# ---- threads ---------------------------------------------------------------------------------------------------------
THREADS = """
import sys, threading
import numpy as np
from tests.kernels.test_linker import pendulum
import bough
models = [pendulum(), pendulum(motion=bough.motion.Polynomial([0.1, 0.2]))]
found, start = [None, None], threading.Barrier(2)
def go(i):
    start.wait()
    found[i] = models[i].forward_dynamics([0.3, 0.1], [1.0, 2.0], method="order-n")
threads = [threading.Thread(target=go, args=(i,)) for i in range(2)]
for t in threads: t.start()
for t in threads: t.join()
np.savez(sys.argv[1], *found)
"""


@pytest.mark.slow
def test_two_threads_compile_two_kinds_of_model_at_once(tmp_path):
    run_python(THREADS, tmp_path / "found.npz", BOUGH_CACHE_DIR=str(tmp_path / "cache"))
    found = np.load(tmp_path / "found.npz")
    models = [pendulum(), pendulum(motion=bough.motion.Polynomial([0.1, 0.2]))]
    for name, model in zip(found.files, models, strict=True):
        np.testing.assert_allclose(found[name], model.forward_dynamics([0.3, 0.1], [1.0, 2.0], method="order-n"), rtol=SWEEP)


def numba_methods():
    return (CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module, CPUContext.get_executable,
            BaseFunction.get_call_type, CPUCodegen._function_pass_manager, numba.config.SLP_VECTORIZE)


def test_numba_is_left_as_it_was_whatever_happens():
    before = numba_methods()
    patched = compiling(cached(lambda: None), 1)
    with pytest.raises(ZeroDivisionError), patched:
        raise ZeroDivisionError
    assert numba_methods() == before


def test_what_other_threads_compile_meanwhile_is_optimized():
    """They wait, and their code is as always: machine code that can be called, of which LLVM has made a sum in closed form."""
    done = threading.Event()

    def elsewhere():
        @numba.njit
        def total(n):
            s = 0
            for i in range(n):
                s += i
            return s
        total(10)
        code = next(iter(total.inspect_llvm().values()))
        optimized.append("mul" in code)
        done.set()
    optimized = []
    thread = threading.Thread(target=elsewhere)
    with compiling(cached(lambda: None), 1):
        thread.start()
        assert not done.wait(0.3)
    thread.join()
    assert optimized == [True]


# ---- the cache -----------------------------------------------------------------------------------------------------------
def one_more(x):
    return x + 1.0


def test_a_file_for_each_signature_and_processor():
    store, here = DiskCache(one_more), numba.core.registry.cpu_target.target_context.codegen()

    class Elsewhere:
        def magic_tuple(self):
            return ("x86_64", "another processor", "+sse2")
    paths = {store.path((numba.float64,), here), store.path((numba.int64,), here), store.path((numba.float64,), Elsewhere())}
    assert len(paths) == 3
    assert store.path((numba.float64,), here) in paths


def test_what_is_compiled_is_found_again(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "cache_directory", lambda: tmp_path)
    assert cached(one_more)(1.0) == 2.0
    again = cached(one_more)
    assert again._cache.holds((numba.float64,), again.targetctx)
    assert again(1.0) == 2.0
    assert sum(again._cache_hits.values()) == 1
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    middle = len(whole)//2
    for damaged in (whole[:100], b"", whole[:middle] + b"\x00\xff" + whole[middle + 2:]):      # a full disk, or a bad one
        file.write_bytes(damaged)
        assert not cached(one_more)._cache.holds((numba.float64,), again.targetctx)
        assert cached(one_more)(1.0) == 2.0
        assert cached(one_more)._cache.holds((numba.float64,), again.targetctx)                 # it healed


AT_ONCE = """
import sys, time
from pathlib import Path
from tests.kernels.test_linker import cached, one_more
here, other = Path(sys.argv[1]), Path(sys.argv[2])
here.touch()
end = time.time() + 60.0
while not other.exists() and time.time() < end:
    time.sleep(0.001)
print(cached(one_more)(1.0))
"""


@pytest.mark.slow
def test_two_processes_that_compile_at_once(tmp_path):
    """Into the same empty cache, begun together: both answer, and one whole file is left."""
    with ThreadPoolExecutor(2) as pool:
        pairs = [(tmp_path / "a", tmp_path / "b"), (tmp_path / "b", tmp_path / "a")]
        done = list(pool.map(lambda pair: run_python(AT_ONCE, *pair, BOUGH_CACHE_DIR=str(tmp_path / "cache")), pairs))
    assert [each.stdout.split()[-1] for each in done] == ["2.0", "2.0"]
    (folder,) = (tmp_path / "cache").iterdir()
    (file,) = folder.iterdir()
    assert jit._whole(file)


@leaf
def doubled(lane, x):
    return x + x


@leaf
def larger(x, y):
    return max(x, y)


@kernel
def store_doubled(x, out):
    out[0] = doubled(lanes_like(out), larger(x, x))


def test_what_was_compiled_is_let_go(tmp_path, monkeypatch):
    """Machine code stays; intermediate code of kernels goes, and of leaves that depend on features when they are many. What comes
    next starts anew; leaves that serve all models stay."""
    monkeypatch.setattr(jit, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(jit, "MOST_LEAVES", 0)
    for number in (types.float64, types.int64):
        signature = (number, types.float64[::1])
        library = weakref.ref(jit.load_or_compile(store_doubled, signature, 1).library)
        assert library()._final_module is None
        assert not library()._linking_libraries
        assert not doubled.overloads
        assert larger in jit.LEAVES
        assert not any(jit.of_features(each) for each in jit.LEAVES)
    out = np.zeros(1)
    for x in (1.5, 2):
        store_doubled(x, out)
        assert out[0] == 2*x
    assert len(list(tmp_path.iterdir())) == 2
    assert len(larger.overloads) == 2


def test_a_full_disk_costs_time_and_not_the_run(monkeypatch, tmp_path):
    def full(*args, **keywords):
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(jit, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(Path, "write_bytes", full)
    jit._warn_once.cache_clear()
    with pytest.warns(UserWarning, match="cannot be written .No space left on device."):
        assert cached(one_more)(1.0) == 2.0
    assert list(tmp_path.iterdir()) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")                                  # said once
        assert cached(one_more)(1.0) == 2.0


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users are kept apart by other means")
def test_directories_that_others_can_write_are_not_trusted(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    assert unsafe(tmp_path) is None
    tmp_path.chmod(0o770)
    assert unsafe(tmp_path) == "can be written by others"
    tmp_path.chmod(0o700)
    if os.getuid() == 0:
        os.chown(tmp_path, 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert unsafe(tmp_path) == "belongs to another user"
    monkeypatch.delattr(os, "getuid")                                   # Windows
    assert unsafe(tmp_path) is None


DIRECTORY = "from bough.kernels.jit import cache_directory; print(cache_directory())"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users are kept apart by other means")
def test_an_unsafe_directory_is_said_once_and_not_used(tmp_path):
    tmp_path.chmod(0o777)
    done = run_python(DIRECTORY, BOUGH_CACHE_DIR=str(tmp_path))
    assert done.stderr.count("can be written by others; kernels are compiled anew in every process; set BOUGH_CACHE_DIR") == 1
    used = Path(done.stdout.strip())
    assert tmp_path not in used.parents
    assert not used.exists()                                            # it was that process's own


def test_a_home_that_cannot_be_made_is_not_used(tmp_path):
    (tmp_path / "file").write_text("")
    done = run_python(DIRECTORY, BOUGH_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert "cannot be written" in done.stderr


@pytest.mark.skipif(getattr(os, "getuid", lambda: 1)() != 0, reason="becomes another user")
def test_no_home_and_one_that_is_read_only(tmp_path):
    """As a user whom the system does not know."""
    tmp_path.chmod(0o555)
    script = "import os, pwd, sys, tempfile, bough, bough.kernels.jit as jit\nif len(sys.argv) < 2: del os.environ['HOME']\n"
    script += "os.environ.pop('XDG_CACHE_HOME', None); os.environ.pop('BOUGH_CACHE_DIR', None)\n"
    script += "os.setuid(54321); print(jit.cache_directory())"
    done = run_python(script)
    assert "bough: there is no home directory; kernels are compiled anew in every process; set BOUGH_CACHE_DIR" in done.stderr
    done = run_python(script, "read-only", HOME=str(tmp_path))
    assert f"{tmp_path}/.cache/bough" in done.stderr
    assert "cannot be written (Permission denied)" in done.stderr


# ---- other number types ------------------------------------------------------------------------------------------------
LONG_DOUBLE = """
import sys
import numpy as np
from bough.kernels.linker import link
from bough.sweeps import calls, fields as f
from tests.kernels.test_linker import pendulum
model = pendulum()
tables, double = model.tables, np.longdouble
rows = [np.array(row, double)[None] for row in ([0.0, 0.0], [0.3, 0.1, 1.0, 2.0], np.zeros(tables.n_u), [0.0, 0.0])]
ws = np.zeros(tables.size(f.WS_SIZE), double)
calls.forward_order_n(*link(tables.features, tables.plan, tables.pars.astype(double), tables.tables.astype(double), ws), *rows, ws)
assert rows[-1].dtype == double
np.save(sys.argv[1], rows[-1])
"""


def test_sweeps_run_in_long_double_without_a_compiler(tmp_path):
    run_python(LONG_DOUBLE, tmp_path / "a.npy", NUMBA_DISABLE_JIT="1")
    precise, a = np.load(tmp_path / "a.npy")[0], pendulum().forward_dynamics([0.3, 0.1], [1.0, 2.0], dynamics="order-n")
    np.testing.assert_allclose(a, precise.astype(float), rtol=FORMULA)
    if np.finfo(np.longdouble).eps < np.finfo(float).eps:
        assert (precise != precise.astype(float)).any()


# ---- warmup --------------------------------------------------------------------------------------------------------------
def test_warmup_compiles_all_that_a_kind_of_model_calls():
    jobs = warm_up(["rigid"], lanes=["one"], methods=["order-n"], processes=1)
    assert [str(job) for job in jobs] == ["kernels, one", "rigid, one"]
    sweeps = linker.sweeps_for(Features(), ["order-n"])
    assert "solve_order_n" in (names := [sweep.__name__ for sweep in sweeps])
    assert not {"fill_loop_equations", "solve_dense", "solve_cloud", "evaluate_prescribed_motion"} & set(names)
    for sweep in sweeps:
        assert sweep._cache.holds(linker.sweep_signature(sweep, Features(), 1, False), sweep.targetctx)
    compile_job(jobs[1])                                                # nothing is left to do


def test_every_sweep_has_a_number():
    """Cached kernels call sweeps by number: another order would call another sweep, so all are declared, file by file."""
    files = sorted(Path(bough.sweeps.__path__[0]).glob("*.py"))
    found = {file.stem: tuple(re.findall(r"^@sweep\b.*\ndef (\w+)", file.read_text(encoding="utf-8"), re.M)) for file in files}
    assert {name: sweeps for name, sweeps in found.items() if sweeps} == bough.sweeps.SWEEPS
    assert [f"bough.sweeps.{file}.{name}" for file, names in bough.sweeps.SWEEPS.items() for name in names] == linker.NAMES
    assert len(linker.NAMES) <= linker.MOST_SWEEPS


def test_numbers_of_sweeps_do_not_depend_on_what_is_imported_first():
    script = ("import bough.sweeps.power; from bough.kernels import linker; print(*linker.NAMES); print(*linker.SWEEPS)")
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert found[0].split() == linker.NAMES
    assert "bough.sweeps.power.fill_input_power" in found[1]
    assert "bough.sweeps.riccati" not in found[1]


def test_a_sweep_without_a_number_is_refused():
    with pytest.raises(ValueError, match="has no number; give it one"):
        linker.sweep(test_a_sweep_without_a_number_is_refused)


def test_warmup_takes_features_and_files(tmp_path):
    s = bough.System("held")
    s.body("b", joint=bough.Revolute("y", motion=bough.motion.Polynomial([0.0, 1.0])), mass=1.0, com=(0, 0, 1))
    s.to_yaml(tmp_path / "held.yaml")
    assert feature_sets(["flexible+loops", "rigid"]) == [Features(flexible=True, loops=True), Features()]
    assert feature_sets([str(tmp_path / "held.yaml")]) == [Features(holds=True)]
    assert len(feature_sets([])) == 8
    with pytest.raises(BoughError, match=r"there is no 'flexibel' \(did you mean 'flexible'"):
        feature_sets(["flexibel"])
    with pytest.raises(BoughError, match="lanes: there is no 'two'"):
        warm_up(["rigid"], lanes=["two"])


def test_warmup_on_the_command_line(capsys, monkeypatch):
    asked = {}

    def compile_nothing(names, **options):
        asked.update(options, names=names)
        return ["rigid, one"]
    monkeypatch.setattr("bough.warmup.warm_up", compile_nothing)
    with pytest.raises(SystemExit):
        main(["warmup", "rigid", "--lanes", "one,four", "-j", "3"])
    assert asked == {"names": ["rigid"], "lanes": ["one", "four"], "methods": ["order-n", "dense", "cloud"], "processes": 3}
    assert "ready: rigid, one" in capsys.readouterr().out
