// The modes of a flexible body, one at a time, swinging slowly enough to see; the run stands still meanwhile.

class Modes {
  constructor(world) { Object.assign(this, { world, body: -1, mode: 0, amplitude: 1, phase: 0 }); }

  get showing() { return this.body >= 0; }

  show(body, mode) {
    Object.assign(this, { body, mode, phase: 0 });
    if (!this.showing) { this.world.mode = null; this.world.update(this.world.t); return; }
    const flexible = this.world.flexible[body], eta = new Float32Array(flexible.n), moved = new Float32Array(flexible.moved.length);
    eta[mode] = 1e-3;                                           // small: the second order does not count
    flexible.displace(eta, moved);
    let largest = 0;
    for (let k = 0; k < flexible.count; k++) largest = Math.max(largest, Math.hypot(...moved.subarray(3 * k, 3 * k + 3)));
    if (flexible.band) largest = Math.max(largest, flexible.band.edge(eta));
    this.unit = 0.12 * flexible.spec.reach / (largest / 1e-3 || 1);      // its points move by an eighth of its size at most
    this.advance(0);
  }

  advance(seconds) {
    if (!this.showing) return;
    this.phase += 2 * Math.PI * 0.7 * seconds;
    const { body, mode } = this, amplitude = this.unit * this.amplitude, key = `${body} ${mode} ${amplitude}`;
    this.world.mode = { body, mode, amplitude, value: amplitude * Math.sin(this.phase), key };
    this.world.update(this.world.t);
  }
}
