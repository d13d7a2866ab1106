// All that is on the stage, and where it is at a time.

class World {
  constructor(spec, stage) {
    Object.assign(this, { spec, stage, motion: new Motion(spec), picked: -1, scale: 1, measure: "none", mode: null, known: {} });
    this.bodies = spec.bodies;
    this.order = outward(spec.bodies);
    this.actual = spec.bodies.map(() => new Rigid());           // where the model has the bodies, relative to the origin
    this.shown = spec.bodies.map(() => new Rigid());            // where they are drawn: deformations may be scaled
    this.moved = spec.bodies.map(() => new Rigid());            // from actual to shown
    this.origin = [0, 0, 0];
    this.up = new THREE.Vector3(0, 0, 1);
    if (spec.gravity && Math.hypot(...spec.gravity) > 0) this.up.set(...spec.gravity).normalize().negate();
    this.layers = {};
    for (const name of ["bodies", "joints", "axes", "frames", "loops", "wheels", "lines", "ground", "traces", "loads"]) {
      this.layers[name] = new THREE.Group();
      stage.scene.add(this.layers[name]);
    }
    this.traces = new Map();
    this.addBodies();
    this.t = this.motion.start;
    this.deform(this.t);
    this.measureExtent();
    this.addMarks();
    this.addGround();
    this.update(this.motion.start);
  }

  addBodies() {
    const depths = [];
    for (const k of this.order) depths[k] = this.bodies[k].parent < 0 ? 0 : depths[this.bodies[k].parent] + 1;
    this.colors = this.bodies.map((body, k) => bodyColor(body, depths[k]));
    this.meshes = this.bodies.map((body, k) => bodyMesh(body, k, this.colors[k], this.bodies.length <= 150));
    this.flexible = this.bodies.map((body, k) => body.flexible && new Flexible(body.flexible, k, this.colors[k], this.motion));
    this.flexible.forEach((each, k) => { if (each) this.meshes[k].add(each.deformed = each.object); });
    this.layers.bodies.add(...this.meshes);
  }

  // The corners of all bodies at some times: relative to the mass center, and in the world.
  measureExtent() {
    const rigid = new Rigid(), v = new THREE.Vector3(), boxes = this.meshes.map((mesh) => cornersOf(mesh));
    const times = Array.from({ length: 25 }, (_, s) => this.motion.start + this.motion.span * s / 24);
    this.corners = { world: [], center: [] };
    for (const t of times) {
      const origin = this.motion.origin(t);
      boxes.forEach((corners, k) => {
        this.motion.pose(k, t, rigid);
        for (const corner of corners) {
          const near = v.copy(corner).applyQuaternion(rigid.q).add(rigid.p).toArray();
          this.corners.center.push(near);
          this.corners.world.push(near.map((x, i) => x + origin[i]));
        }
      });
    }
    const [near, far] = ["center", "world"].map((name) => sizeOf(this.corners[name]));
    this.roams = far.radius > 3 * near.radius;
    Object.assign(this, this.roams ? near : far);
    this.lowest = this.corners.world.reduce((a, p) => Math.min(a, this.up.dot(v.set(...p))), Infinity);
  }

  addMarks() {
    const { spec } = this, small = 0.012 * this.radius;
    const size = (body) => {
      const own = body.reach, parent = body.parent >= 0 ? this.bodies[body.parent].reach : own;
      return Math.max(0.045 * Math.min(own, parent), 0.002 * this.radius);
    };
    this.joints = this.bodies.map((body) => new JointMark(body, size(body)));
    this.joints.forEach((joint) => this.layers.joints.add(joint.inner, joint.outer));
    this.feet = this.bodies.filter((body) => body.parent < 0 && !body.joint.translations.length)
      .map((body) => ({ body, foot: footMark(size(body) * 1.3, this.up) }));
    this.feet.forEach(({ foot }) => this.layers.joints.add(foot));
    this.frames = this.bodies.map((body) => triad(Math.max(0.25 * body.reach, 0.03 * this.radius)));
    this.worldFrame = triad(0.22 * this.radius);
    this.layers.frames.add(...this.frames, this.worldFrame);
    const near = (place) => place.body < 0 ? this.radius : this.bodies[place.body].reach;
    const ring = ({ a, b }) => Math.max(0.05 * Math.min(near(a), near(b)), 0.003 * this.radius);
    this.loops = spec.loops.map((loop) => new LoopMark(loop, ring(loop)));
    this.loops.forEach((loop) => this.layers.loops.add(loop.group));
    this.wheels = spec.wheels.map((wheel) => this.wheelMark(wheel));
    this.wheels.forEach((wheel) => this.layers.wheels.add(wheel.group));
    this.lines = spec.lines.map((line) => ({ line, rod: new RodMark(MARKS.line, 0.35 * small) }));
    this.lines.forEach(({ rod }) => this.layers.lines.add(rod.mesh));
    const knot = () => marker(new THREE.OctahedronGeometry(2.2 * small), basic(MARKS.loop));
    this.springs = spec.springs.map((spring) => ({ spring, mesh: knot() }));
    this.springs.forEach(({ mesh }) => this.layers.lines.add(mesh));
    this.arrows = new Arrows(spec.loads, this.motion, 0.38 * this.radius);
    for (const group of this.arrows.groups.values()) this.layers.loads.add(group.object);
  }

  wheelMark(wheel) {
    const body = this.bodies[wheel.place.body];
    wheel.center = wheel.place.node >= 0 || body.flexible ? [0, 0, 0] : body.com;
    if (body.flexible || !body.parts.length) return new WheelMark(wheel, 0.13 * body.reach, 0);
    const axis = new THREE.Vector3(...wheel.axis).normalize(), far = 4 * body.reach;
    const start = new THREE.Vector3(...wheel.center).addScaledVector(axis, far);
    const plain = new THREE.Mesh(partGeometry(body.parts[0]));
    const hit = new THREE.Raycaster(start, axis.clone().negate()).intersectObject(plain)[0];       // where the axis leaves the part
    plain.geometry.computeBoundingBox();
    const extent = Math.min(...plain.geometry.boundingBox.getSize(new THREE.Vector3()).toArray());
    return new WheelMark(wheel, 0.2 * extent, hit ? far - hit.distance : 0);
  }

  addGround() {
    const { spec } = this, heavy = spec.gravity && Math.hypot(...spec.gravity) > 0;
    this.cell = roundNumber(this.radius / 4);
    if (!heavy) return;
    const water = spec.water.length > 0, half = (water ? 60 : 30) * this.cell;
    this.plane = new THREE.Group().add(gridPlane(this.cell, half, water ? MARKS.water : MARKS.grid));
    if (water) this.plane.add(waterSheet(0.55 * half));
    this.plane.quaternion.setFromUnitVectors(Z, this.up);
    this.height = water ? spec.water[0] : this.lowest;
    this.layers.ground.add(this.plane);
  }

  placeGround(target) {
    if (!this.plane) return;
    const turn = this.plane.quaternion, local = target.clone().add(new THREE.Vector3(...this.origin));
    local.applyQuaternion(turn.clone().conjugate());
    const snap = (x) => 5 * this.cell * Math.round(x / (5 * this.cell));
    const place = new THREE.Vector3(snap(local.x), snap(local.y), this.height).applyQuaternion(turn);
    this.plane.position.set(...place.toArray().map((x, k) => x - this.origin[k]));
  }

  // Where a place of the description is drawn.
  locate(place, out) {
    if (place.body < 0) { out.p.set(...this.origin.map((x) => -x)); out.q.identity(); }
    else {
      out.copy(this.shown[place.body]);
      if (place.node >= 0) out.then(this.nodeFrame(place.body, place.node, true));
    }
    out.p.add(new THREE.Vector3(...place.at).applyQuaternion(out.q));
    out.q.multiply(new THREE.Quaternion(...place.turn));
    return out;
  }

  // A node relative to the body frame, as shown or as the model has it.
  nodeFrame(body, node, shown) {
    return this.deformFrame(body, shown).then(this.flexible[body].node(node, shown, new Rigid()));
  }

  // The frame that a body deforms in, relative to the frame of its inboard node.
  deformFrame(body, shown) {
    const flexible = this.flexible[body], out = new Rigid();
    if (flexible.inboard < 0) return out;
    return flexible.node(flexible.inboard, shown, out).inverse();
  }

  update(t) {
    this.t = t;
    this.origin = this.motion.origin(t);
    this.bodies.forEach((body, k) => this.motion.pose(k, t, this.actual[k]));
    this.deform(t);
    for (const k of this.order) this.placeBody(k);
    this.placeMarks(t);
    this.stage.stale = true;
  }

  // Modal coordinates as they are, times a scale, or those of one mode that is shown.
  deform(t) {
    const largest = this.largest();
    for (const flexible of this.flexible) {
      if (!flexible) continue;
      flexible.read(t);
      const mode = this.mode && this.mode.body === flexible.number ? this.mode : null;
      flexible.shown.set(flexible.actual.map((eta, r) => (!mode ? this.scale * eta : r === mode.mode ? mode.value : 0)));
      flexible.displace(flexible.shown, flexible.moved);
      const same = !mode && this.scale === 1;
      flexible.movedActual = same ? flexible.moved : new Float32Array(flexible.moved.length);
      if (!same) flexible.displace(flexible.actual, flexible.movedActual);
      flexible.draw(this.measure, largest);
    }
  }

  largest() {
    if (this.measure === "none") return 1;
    if (this.mode) return this.known[this.measure + this.mode.key] ??= this.largestOfMode();
    return ((this.known[this.measure] ??= this.largestOfRun()) * this.scale) || 1e-12;
  }

  largestOfRun() {
    let found = 0;
    for (let s = 0; s <= 120; s++) {
      for (const flexible of this.flexible.filter(Boolean)) {
        flexible.read(this.motion.start + this.motion.span * s / 120);
        flexible.displace(flexible.actual, flexible.moved);
        for (const value of flexible.values(this.measure, flexible.actual)) found = Math.max(found, value);
      }
    }
    return found;
  }

  largestOfMode() {
    const flexible = this.flexible[this.mode.body], eta = new Float32Array(flexible.n);
    eta[this.mode.mode] = this.mode.amplitude;
    flexible.displace(eta, flexible.moved);
    return flexible.values(this.measure, eta).reduce((a, b) => Math.max(a, b), 0) || 1e-12;
  }

  placeBody(k) {
    const { joint, parent } = this.bodies[k], moved = this.moved[k];
    if (parent < 0) moved.copy(new Rigid());
    else {
      moved.copy(this.moved[parent]);
      const { node } = joint.place;
      if (node >= 0 && (this.scale !== 1 || this.mode)) {       // carried by a node: from where it is to where it is shown
        const actual = new Rigid().copy(this.actual[parent]).then(this.nodeFrame(parent, node, false));
        moved.copy(this.shown[parent]).then(this.nodeFrame(parent, node, true)).then(actual.inverse());
      }
    }
    this.shown[k].copy(moved).then(this.actual[k]);
    this.meshes[k].position.copy(this.shown[k].p);
    this.meshes[k].quaternion.copy(this.shown[k].q);
    if (this.flexible[k]) {
      const frame = this.deformFrame(k, true);
      this.flexible[k].object.position.copy(frame.p);
      this.flexible[k].object.quaternion.copy(frame.q);
    }
  }

  placeMarks(t) {
    const a = new Rigid(), b = new Rigid();
    this.joints.forEach((joint, k) => joint.place(this.locate(this.bodies[k].joint.place, a), this.shown[k]));
    this.feet.forEach(({ body, foot }) => { this.locate(body.joint.place, a); foot.position.copy(a.p).add(foot.userData.drop); });
    this.frames.forEach((frame, k) => { frame.position.copy(this.shown[k].p); frame.quaternion.copy(this.shown[k].q); });
    this.worldFrame.position.set(...this.origin.map((x) => -x));
    this.loops.forEach((mark) => mark.place(this.locate(mark.loop.a, a), this.locate(mark.loop.b, b)));
    this.wheels.forEach((mark) => mark.place(this.locate(mark.wheel.place, a), this.motion.value(mark.wheel.angle, 0, t)));
    this.lines.forEach(({ line, rod }) => rod.place(this.locate(line.a, a).p, this.locate(line.b, b).p));
    this.springs.forEach(({ spring, mesh }) => mesh.position.copy(this.locate(spring.place, a).p));
    for (const trace of this.traces.values()) trace.place(t, this.origin);
    this.arrows.place(t, (place, out) => this.locate(place, out));
  }

  // Where a body's mass center is drawn; of a flexible one, a point in its middle.
  middle(k, out = new THREE.Vector3()) {
    const flexible = this.flexible[k], { p, q } = this.shown[k];
    if (!flexible) return out.set(...this.bodies[k].com).applyQuaternion(q).add(p);
    const { chain } = flexible.spec, at = chain ? 3 * chain[chain.length >> 1] : 0, { position, quaternion } = flexible.object;
    out.fromArray(flexible.points, at).add(new THREE.Vector3().fromArray(flexible.moved, at));
    return out.applyQuaternion(quaternion).add(position).applyQuaternion(q).add(p);
  }

  pick(k) {
    if (this.picked >= 0) highlight(this.meshes[this.picked], false);
    this.picked = k;
    if (k >= 0) highlight(this.meshes[k], true);
    this.stage.stale = true;
  }

  trace(k, on) {
    if (on === this.traces.has(k)) return;
    if (on) this.traces.set(k, new Trace(this.motion, k, this.bodies[k].com, this.colors[k]));
    else { this.layers.traces.remove(this.traces.get(k).group); this.traces.delete(k); }
    if (on) this.layers.traces.add(this.traces.get(k).group);
    this.placeMarks(this.t);
    this.stage.stale = true;
  }
}

// The corners of the box around what a body consists of, in its frame.
function cornersOf(object) {
  const box = new THREE.Box3(), found = [];
  object.traverse((each) => {
    if (!each.isMesh) return;
    each.geometry.computeBoundingBox();
    box.union(each.geometry.boundingBox);
  });
  if (box.isEmpty()) box.expandByPoint(new THREE.Vector3());
  for (const x of [box.min.x, box.max.x]) for (const y of [box.min.y, box.max.y]) for (const z of [box.min.z, box.max.z]) {
    found.push(new THREE.Vector3(x, y, z));
  }
  return found;
}

function sizeOf(points) {
  const low = [0, 1, 2].map((i) => points.reduce((a, p) => Math.min(a, p[i]), Infinity));
  const high = [0, 1, 2].map((i) => points.reduce((a, p) => Math.max(a, p[i]), -Infinity));
  const center = high.map((x, i) => (x + low[i]) / 2);
  return { center, radius: points.reduce((a, p) => Math.max(a, Math.hypot(...p.map((x, i) => x - center[i]))), 0) || 1 };
}

// Numbers of bodies, parents before children.
function outward(bodies) {
  const found = [], known = new Set();
  bodies.forEach((_, k) => {
    const path = [];
    for (let at = k; at >= 0 && !known.has(at); at = bodies[at].parent) { path.push(at); known.add(at); }
    found.push(...path.reverse());
  });
  return found;
}
