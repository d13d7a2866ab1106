// Flexible bodies: points moved by the modes; beams as bands that bend with their slopes, solids as surfaces.
// A beam that stiffens keeps its length: as it bends sideways its tip draws near, -1/2 int w'^2.

const MEASURES = {
  displacement: { title: "displacement", unit: "m" },
  curvature: { title: "bending curvature of beams", unit: "1/m" },
  edges: { title: "largest strain along element edges", unit: "" },
  stress: { title: "equivalent stress", unit: "MPa" },
  strain: { title: "equivalent strain", unit: "" },
};

class Flexible {
  constructor(spec, number, color, motion) {
    Object.assign(this, { spec, number, motion, n: spec.modes, inboard: spec.inboard, color });
    this.points = byRows(spec.points);
    this.phi = byRows(spec.phi);
    this.lines = byRows(spec.lines);
    this.faces = byRows(spec.faces);
    this.nodePosition = byRows(spec.nodePosition);
    this.nodePhi = byRows(spec.nodePhi);
    this.nodePsi = byRows(spec.nodePsi);
    this.count = this.points.length / 3;
    this.moved = new Float32Array(this.points.length);          // displacements of the points
    this.measured = new Float32Array(this.count);
    this.actual = new Float32Array(this.n);
    this.shown = new Float32Array(this.n);
    this.stress = spec.stress ? byRows(spec.stress) : null;     // six components of each point for each mode
    this.strain = spec.strain ? byRows(spec.strain) : null;
    this.measures = spec.chain ? ["curvature"] : this.stress ? ["stress", "strain"] : this.lines.length ? ["edges"] : [];
    if (spec.chain) this.band = new Band(this, byRows(spec.twist));
    this.object = this.build();
  }

  build() {
    const group = new THREE.Group();
    this.material = new THREE.MeshStandardMaterial({
      color: this.color, roughness: 0.55, metalness: 0.05, side: THREE.DoubleSide, flatShading: !this.band });
    this.mesh = new THREE.Mesh(this.band ? this.band.geometry : this.surface(), this.material);
    if (!this.band) this.addLines(group);
    this.mesh.frustumCulled = false;                            // its points move
    this.mesh.userData.body = this.number;
    group.add(this.mesh);
    return group;
  }

  surface() {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.points.slice(), 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * this.count), 3));
    geometry.setIndex([...this.faces]);
    return geometry;
  }

  // The edges of the elements; what has no surface, as points.
  addLines(group) {
    const edges = new THREE.BufferGeometry(), { position } = this.mesh.geometry.attributes;
    edges.setAttribute("position", position);
    edges.setIndex([...this.lines]);
    if (this.lines.length) group.add(new THREE.LineSegments(edges, EDGES));
    if (this.faces.length) return;
    const dots = new THREE.BufferGeometry();
    dots.setAttribute("position", position);
    group.add(new THREE.Points(dots, new THREE.PointsMaterial({ color: this.color, size: 4, sizeAttenuation: false })));
  }

  // The modal coordinates at a time; what is shown of them is up to the caller.
  read(t) {
    for (let r = 0; r < this.n; r++) this.actual[r] = this.motion.value(this.spec.eta, r, t);
  }

  displace(eta, out) {
    const n = this.n;
    for (let k = 0; k < out.length; k++) {
      let sum = 0;
      for (let r = 0; r < n; r++) sum += this.phi[k * n + r] * eta[r];
      out[k] = sum;
    }
    if (this.spec.shortens) this.band.shorten(out);
  }

  // The frame of a node relative to the frame that the body deforms in, as shown or as the model has it.
  node(k, shown, out) {
    const eta = shown ? this.shown : this.actual, moved = shown ? this.moved : this.movedActual;
    const n = this.n, spin = new THREE.Vector3(), shift = new THREE.Vector3();
    for (let i = 0; i < 3; i++) {
      let turn = 0, move = 0;
      for (let r = 0; r < n; r++) {
        turn += this.nodePsi[(3 * k + i) * n + r] * eta[r];
        move += this.nodePhi[(3 * k + i) * n + r] * eta[r];
      }
      spin.setComponent(i, turn);
      shift.setComponent(i, move);
    }
    const at = this.spec.nodePoint ? this.spec.nodePoint[k] : -1;
    if (at >= 0) shift.fromArray(moved, 3 * this.spec.chain[at]);
    const angle = spin.length();
    out.p.fromArray(this.nodePosition, 3 * k).add(shift);
    out.q.setFromAxisAngle(angle > 0 ? spin.divideScalar(angle) : Z, angle);
    return out;
  }

  // What the colors mean: meters, curvature, stress and strain of von Mises (engineering shear), or strain of element edges.
  values(what, eta) {
    const { measured, moved } = this;
    measured.fill(0);
    if (what === "displacement") {
      for (let k = 0; k < this.count; k++) measured[k] = Math.hypot(moved[3 * k], moved[3 * k + 1], moved[3 * k + 2]);
    } else if (!this.measures.includes(what)) return measured;
    else if (what === "curvature") this.band.curvatures(eta, measured);
    else if (what === "edges") this.edgeStrains(measured);
    else if (what === "stress") this.equivalent(this.stress, 1, 3, eta, measured);
    else if (what === "strain") this.equivalent(this.strain, 2 / 3, 3 / 4, eta, measured);
    return measured;
  }

  // Of von Mises, out of xx, yy, zz, xy, yz, zx.
  equivalent(rows, factor, shear, eta, out) {
    const n = this.n, s = new Float32Array(6);
    for (let k = 0; k < this.count; k++) {
      for (let i = 0; i < 6; i++) {
        s[i] = 0;
        for (let r = 0; r < n; r++) s[i] += rows[(6 * k + i) * n + r] * eta[r];
      }
      const [x, y, z, xy, yz, zx] = s;
      out[k] = factor * Math.sqrt(((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) / 2 + shear * (xy * xy + yz * yz + zx * zx));
    }
  }

  edgeStrains(out) {
    for (let e = 0; e < this.lines.length; e += 2) {
      const a = 3 * this.lines[e], b = 3 * this.lines[e + 1];
      let square = 0, stretch = 0;
      for (let i = 0; i < 3; i++) {
        const along = this.points[b + i] - this.points[a + i];
        square += along * along;
        stretch += along * (this.moved[b + i] - this.moved[a + i]);
      }
      const strain = Math.abs(stretch / square);
      out[a / 3] = Math.max(out[a / 3], strain);
      out[b / 3] = Math.max(out[b / 3], strain);
    }
  }

  // Draws the displacements; with a measure and its largest value, in colors.
  draw(what, largest) {
    const colored = what !== "none" && (what === "displacement" || this.measures.includes(what));
    if (this.material.vertexColors !== colored) {
      this.material.vertexColors = this.mesh.userData.measured = colored;
      if (colored) this.material.emissive.set("#000000");
      this.material.color.set(colored ? "#ffffff" : this.color);
      this.material.needsUpdate = true;
    }
    if (colored) this.values(what, this.shown);
    if (this.band) return this.band.draw(colored ? largest : 0);
    const { position, color } = this.mesh.geometry.attributes, tint = new THREE.Color();
    for (let k = 0; k < position.array.length; k++) position.array[k] = this.points[k] + this.moved[k];
    if (colored) for (let k = 0; k < this.count; k++) scaleColor(this.measured[k] / largest, tint).toArray(color.array, 3 * k);
    position.needsUpdate = color.needsUpdate = true;
    this.mesh.geometry.computeBoundingSphere();
  }
}

// A beam: its section, a rectangle or a circle, swept along its points.
class Band {
  constructor(body, twist) {
    const { spec } = body;
    Object.assign(this, { body, twist, path: spec.chain, stations: spec.chain.length });
    this.rest = this.path.map((k) => new THREE.Vector3().fromArray(body.points, 3 * k));
    this.axis = this.rest[this.stations - 1].clone().sub(this.rest[0]).normalize();
    this.across = new THREE.Vector3(...spec.section.across);
    this.thick = new THREE.Vector3().crossVectors(this.axis, this.across);
    this.start = body.inboard >= 0 && spec.nodePoint[body.inboard] > 0 ? spec.nodePoint[body.inboard] : 0;
    this.profile = profile(spec.section);
    this.geometry = this.build();
  }

  build() {
    const m = this.profile.length, count = this.stations * m + 2 * m, index = [];
    for (let s = 0; s < this.stations - 1; s++) {
      for (let k = 0; k < m; k++) {
        if (this.profile[k].gap) continue;
        const a = s * m + k, b = s * m + (k + 1) % m;
        index.push(a, b, b + m, a, b + m, a + m);
      }
    }
    for (const [base, flip] of [[this.stations * m, true], [this.stations * m + m, false]]) {
      for (let k = 1; k < m - 1; k++) index.push(base, base + (flip ? k + 1 : k), base + (flip ? k : k + 1));
    }
    const geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal", "color"]) {
      geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    }
    geometry.setIndex(index);
    return geometry;
  }

  shorten(moved) {
    const step = (from, to) => {
      const a = 3 * this.path[from], b = 3 * this.path[to], w = new THREE.Vector3();
      w.set(moved[b] - moved[a], moved[b + 1] - moved[a + 1], moved[b + 2] - moved[a + 2]);
      const along = w.dot(this.axis), square = w.lengthSq() - along * along;
      return -0.5 * square / this.rest[to].distanceTo(this.rest[from]);
    };
    const shift = new Float64Array(this.stations);
    for (let s = this.start + 1; s < this.stations; s++) shift[s] = shift[s - 1] + step(s - 1, s);
    for (let s = this.start - 1; s >= 0; s--) shift[s] = shift[s + 1] - step(s + 1, s);
    for (let s = 0; s < this.stations; s++) {
      for (let i = 0; i < 3; i++) moved[3 * this.path[s] + i] += shift[s] * this.axis.getComponent(i);
    }
  }

  // How far twisting moves the edges of the section.
  edge(eta) {
    let angle = 0;
    for (let s = 0; s < this.stations; s++) {
      angle = Math.max(angle, Math.abs(eta.reduce((sum, value, r) => sum + value * this.twist[s * this.body.n + r], 0)));
    }
    return angle * this.body.spec.section.width / 2;
  }

  curvatures(eta, out) {
    const { body } = this, n = body.n, w = [], v = new THREE.Vector3();
    for (let s = 0; s < this.stations; s++) {
      const u = new THREE.Vector3(), first = 3 * this.path[s];
      for (let r = 0; r < n; r++) u.add(v.set(...[0, 1, 2].map((i) => body.phi[(first + i) * n + r] * eta[r])));
      w.push(u.addScaledVector(this.axis, -u.dot(this.axis)));
    }
    const found = new Float64Array(this.stations);
    for (let s = 1; s < this.stations - 1; s++) {
      const h = this.rest[s].distanceTo(this.rest[s - 1]), k = this.rest[s + 1].distanceTo(this.rest[s]);
      const before = w[s].clone().sub(w[s - 1]).divideScalar(h), after = w[s + 1].clone().sub(w[s]).divideScalar(k);
      found[s] = after.sub(before).length() / ((h + k) / 2);
    }
    if (this.stations > 2) [found[0], found[this.stations - 1]] = [found[1], found[this.stations - 2]];
    for (let s = 0; s < this.stations; s++) out[this.path[s]] = found[s];
  }

  draw(largest) {
    const { body, stations, profile: outline, geometry } = this, m = outline.length;
    const { position, normal, color } = geometry.attributes, tint = new THREE.Color();
    const center = this.rest.map((p, s) => new THREE.Vector3().fromArray(body.moved, 3 * this.path[s]).add(p));
    const turn = new THREE.Quaternion(), roll = new THREE.Quaternion(), tangent = new THREE.Vector3(), v = new THREE.Vector3();
    const turned = (x, y) => v.copy(this.across).multiplyScalar(x).addScaledVector(this.thick, y).applyQuaternion(turn);
    const put = (at, s, k, straight) => {
      const { x, y, nx, ny } = outline[k];
      turned(x, y).add(center[s]).toArray(position.array, 3 * at);
      (straight ? v.copy(tangent).multiplyScalar(straight) : turned(nx, ny)).toArray(normal.array, 3 * at);
      if (largest) scaleColor(body.measured[this.path[s]] / largest, tint).toArray(color.array, 3 * at);
    };
    for (let s = 0; s < stations; s++) {
      tangent.copy(center[Math.min(s + 1, stations - 1)]).sub(center[Math.max(s - 1, 0)]).normalize();
      let angle = 0;
      for (let r = 0; r < body.n; r++) angle += this.twist[s * body.n + r] * body.shown[r];
      turn.setFromUnitVectors(this.axis, tangent).premultiply(roll.setFromAxisAngle(tangent, angle));
      for (let k = 0; k < m; k++) put(s * m + k, s, k, 0);
      if (s === 0) for (let k = 0; k < m; k++) put(stations * m + k, s, k, -1);
      if (s === stations - 1) for (let k = 0; k < m; k++) put(stations * m + m + k, s, k, 1);
    }
    position.needsUpdate = normal.needsUpdate = color.needsUpdate = true;
    geometry.computeBoundingSphere();
  }
}

// Corners of a section with the normals of their sides; after a corner that has a gap no side follows.
function profile({ round, width, height }) {
  const found = [];
  if (round) {
    for (let k = 0; k < 20; k++) {
      const [nx, ny] = [Math.cos(k * Math.PI / 10), Math.sin(k * Math.PI / 10)];
      found.push({ x: nx * width / 2, y: ny * height / 2, nx, ny });
    }
    return found;
  }
  const corners = [[1, -1], [1, 1], [-1, 1], [-1, -1]], sides = [[1, 0], [0, 1], [-1, 0], [0, -1]];
  sides.forEach(([nx, ny], k) => {
    for (const [[x, y], gap] of [[corners[k], false], [corners[(k + 1) % 4], true]]) {
      found.push({ x: x * width / 2, y: y * height / 2, nx, ny, gap });
    }
  });
  return found;
}
