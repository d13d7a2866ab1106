// Where bodies are at any time: between frames, places are joined by lines and attitudes by arcs.

class Rigid {                                                   // a place and an attitude
  constructor() { this.p = new THREE.Vector3(); this.q = new THREE.Quaternion(); }
  copy(other) { this.p.copy(other.p); this.q.copy(other.q); return this; }
  then(inner) {                                                 // this after inner: x -> this(inner(x))
    this.p.add(inner.p.clone().applyQuaternion(this.q));
    this.q.multiply(inner.q);
    return this;
  }
  inverse() {
    this.q.conjugate();
    this.p.applyQuaternion(this.q).negate();
    return this;
  }
}

class Motion {
  constructor(scene) {
    this.time = scene.time.data;
    this.frames = this.time.length;
    this.origins = scene.origin;
    this.poses = scene.poses;
    this.start = this.time[0];
    this.end = this.time[this.frames - 1];
    this.span = this.end - this.start;
    this.moment = { t: NaN, i: 0, f: 0 };
  }

  // The frame before a time, and how far it is to the next one.
  at(t) {
    if (t === this.moment.t) return this.moment;
    const time = this.time;
    let low = 0, high = this.frames - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (time[middle] <= t) low = middle; else high = middle;
    }
    const length = time[high] - time[low];
    this.moment = { t, i: low, j: high, f: length > 0 ? Math.min(1, Math.max(0, (t - time[low]) / length)) : 0 };
    return this.moment;
  }

  value(series, column, t) {
    const { i, j, f } = this.at(t), base = column * series.rows;
    return series.data[base + i] * (1 - f) + series.data[base + j] * f;
  }

  vector(series, column, t, out) {
    return out.set(this.value(series, column, t), this.value(series, column + 1, t), this.value(series, column + 2, t));
  }

  // The point that all else is relative to, in doubles.
  origin(t) { return [0, 1, 2].map((k) => this.value(this.origins, k, t)); }

  pose(body, t, out) {
    const { data, rows } = this.poses, { i, j, f } = this.at(t), base = 7 * body;
    this.vector(this.poses, base, t, out.p);
    const entry = (k, frame) => data[(base + 3 + k) * rows + frame];
    out.q.set(entry(0, i), entry(1, i), entry(2, i), entry(3, i));
    if (f > 0) out.q.slerp(scratch.set(entry(0, j), entry(1, j), entry(2, j), entry(3, j)), f);
    return out;
  }
}
const scratch = new THREE.Quaternion();
