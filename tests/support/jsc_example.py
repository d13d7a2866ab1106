"""The largest case of the JSC paper as examples/jsc.yaml has it."""
from bough.bench.jsc_system import STEPS, SWITCH, jsc_case


def jsc_example():
    """For as long as it takes to see the loads switch."""
    system = jsc_case(16)
    system.simulation(until=2*SWITCH, dt=STEPS[True], method="euler-cromer", sample_rate=20)
    return system
