"""Another process in the loop: flight software behind a socket holds a spacecraft, in lockstep and in real time."""

import socket
import struct
import subprocess
import sys

import bough

PERIOD = 0.02  # s between two calls of the flight software
SENSED, COMMANDED = struct.Struct("8d"), struct.Struct("3d")  # time, attitude, rate; torques of three wheels

system = bough.System("flight software")
system.body("bus", mass=120, inertia=(20, 25, 30), joint=bough.Free(q0=(0, 0, 0, 0.1, -0.05, 0.2, 0.97)))
for axis in "xyz":
    system.wheel(f"wheel_{axis}", body="bus", axis=axis, inertia=0.02, torque=0.0)
    system.input(f"motor_{axis}", wheel=f"wheel_{axis}")
system.output("star_tracker", attitude="bus")
system.output("gyro", angular_velocity="bus", axes="body")
system.simulation(until=20.0, dt=5e-3)


def flight_software(time, attitude, rate):
    """Wheel torques that turn the bus to zero attitude."""
    return [20.0 * angle + 30.0 * speed for angle, speed in zip(attitude, rate, strict=False)]


def serve(port):
    """The second process: it answers until the connection is closed."""
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while message := receive(line, SENSED.size):
            time, *sensed = SENSED.unpack(message)
            line.sendall(COMMANDED.pack(*flight_software(time, sensed[:4], sensed[4:])))


def receive(line, size):
    """Receive this many bytes; none if the other side has closed."""
    found = b""
    while len(found) < size:
        more = line.recv(size - len(found))
        if not more:
            return b""
        found += more
    return found


class Remote:
    """The flight software as a law: it queries the second process and waits for the answer."""

    def __enter__(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.process = subprocess.Popen([sys.executable, __file__, str(listener.getsockname()[1])])
            self.line, _ = listener.accept()
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self

    def __exit__(self, *_):
        self.line.close()
        self.process.wait(10)

    def __call__(self, t, y):
        self.line.sendall(SENSED.pack(t, *y["star_tracker"], *y["gyro"]))
        answer = receive(self.line, COMMANDED.size)
        if not answer:
            raise ConnectionError("the flight software has ended")
        return motors(COMMANDED.unpack(answer))


def motors(torques):
    return {f"motor_{axis}": torque for axis, torque in zip("xyz", torques, strict=True)}


def lock_step(remote, until):
    """Simulated time waits for the other process: the same bits as with the law in this one."""
    runs = [bough.simulate(system, until=until, laws=[bough.Law(law, period=PERIOD)], record=["state"])
            for law in (remote, lambda t, y: motors(flight_software(t, y["star_tracker"], y["gyro"])))]  # fmt: skip
    assert (runs[0].data.q.values == runs[1].data.q.values).all()
    return runs[0]


def real_time(remote, until):
    """Simulated time follows the wall clock; returns how late each period was [s]."""
    sim = bough.Simulator(system)
    sim.step()  # kernels are loaded before the clock starts
    sim.reset()
    for t in sim.realtime(until, period=PERIOD):
        sim.u.update(remote(t, sim.y))
    return sorted(sim.lateness)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(int(sys.argv[1]))
        sys.exit()
    with Remote() as remote:
        final = lock_step(remote, 20.0).data.isel(time=-1)
        print(f"lock step: the same bits as in one process; attitude after 20 s: {final.q.values[3:7].round(5)}")
        assert abs(final.q.values[3:6]).max() < 2e-3
        late = real_time(remote, 3.0)
        print(f"real time: {len(late)} periods of {1e3 * PERIOD:g} ms, late by {1e6 * late[len(late) // 2]:.0f} us (median), "
              f"{1e6 * late[int(0.99 * len(late))]:.0f} us (99 %), {1e6 * late[-1]:.0f} us (most)")  # fmt: skip
