// What is drawn upon the bodies: joints with their axes, frames, loops, wheels, lines, springs, water and ground.

const basic = (color) => new THREE.MeshStandardMaterial({ color: color, roughness: 0.5, metalness: 0.15 });
const flat = (color) => new THREE.MeshBasicMaterial({ color: color });
const marker = (geometry, material) => new THREE.Mesh(geometry, material);

const GLYPH = {
  barrel: new THREE.CylinderGeometry(1, 1, 2.6, 28).rotateX(Math.PI / 2),
  ball: new THREE.SphereGeometry(1.15, 28, 18),
  axis: new THREE.CylinderGeometry(0.13, 0.13, 9, 10).rotateX(Math.PI / 2),
  tip: new THREE.ConeGeometry(0.42, 1.3, 16).rotateX(Math.PI / 2).translate(0, 0, 4.9),
  rod: new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2),
  foot: new THREE.CylinderGeometry(1.3, 2.6, 2.2, 4, 1).rotateY(Math.PI / 4),
  disc: new THREE.CylinderGeometry(1, 1, 0.3, 44).rotateX(Math.PI / 2),
};

// The axes of a frame.
function triad(length) {
  const group = new THREE.Group();
  group.scale.setScalar(length);
  for (const [axis, name] of [[[1, 0, 0], "x"], [[0, 1, 0], "y"], [[0, 0, 1], "z"]]) {
    const arrow = marker(TRIAD_ARROW, flat(MARKS[name]));
    arrow.quaternion.copy(alongZ(axis));
    group.add(arrow);
  }
  return group;
}
const TRIAD_ARROW = arrowGeometry(1, 0.013, 0.16);

// An axis as a barrel with a line and a tip along it, at the size of its joint.
function axisMark(axis, size, barrel) {
  const group = new THREE.Group();
  if (barrel) group.add(marker(GLYPH.barrel, basic(MARKS.joint)));
  const line = new THREE.Group();
  line.add(marker(GLYPH.axis, flat(MARKS.axis)), marker(GLYPH.tip, flat(MARKS.axis)));
  line.name = "axis";
  group.add(line);
  group.quaternion.copy(alongZ(axis));
  group.scale.setScalar(size);
  return group;
}

// A joint: what it looks like goes with the child; the first of several axes and all translations stay with the parent.
class JointMark {
  constructor(body, size) {
    const { joint } = body;
    this.inner = new THREE.Group();
    this.outer = new THREE.Group();
    if (joint.dofs.length === 6) return;                        // it holds nothing
    if (joint.ball) { const ball = marker(GLYPH.ball, basic(MARKS.joint)); ball.scale.setScalar(size); this.outer.add(ball); }
    const [first, ...others] = joint.rotations;
    if (!joint.ball && first) (others.length ? this.inner : this.outer).add(axisMark(first, size, true));
    if (!joint.ball) for (const axis of others) this.outer.add(axisMark(axis, size, true));
    for (const axis of joint.translations) this.inner.add(axisMark(axis, size, false));
  }

  place(locate, own) {
    this.inner.position.copy(own.p);
    this.inner.quaternion.copy(locate.q);
    this.outer.position.copy(own.p);
    this.outer.quaternion.copy(own.q);
  }
}

// What the world holds stands on a foot.
function footMark(size, up) {
  const foot = marker(GLYPH.foot, basic(MARKS.joint));
  foot.scale.setScalar(size);
  foot.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), up);
  foot.userData.drop = up.clone().multiplyScalar(-1.6 * size);
  return foot;
}

// A straight rod between two points.
class RodMark {
  constructor(color, radius) {
    this.radius = radius;
    this.mesh = marker(GLYPH.rod, basic(color));
  }

  place(a, b) {
    const along = b.clone().sub(a), length = along.length();
    this.mesh.visible = length > 1e-9;
    this.mesh.position.copy(a).addScaledVector(along, 0.5);
    if (length > 0) this.mesh.quaternion.setFromUnitVectors(Z, along.divideScalar(length));
    this.mesh.scale.set(this.radius, this.radius, Math.max(length, 1e-9));
  }
}

// A loop: its two frames, its axes, and a line across the gap or along the distance that it holds.
class LoopMark {
  constructor(loop, size) {
    this.loop = loop;
    this.ends = [0, 1].map(() => marker(new THREE.TorusGeometry(1.5 * size, 0.3 * size, 12, 36), basic(MARKS.loop)));
    this.rod = new RodMark(MARKS.loop, (loop.kind === "distance" ? 0.45 : 0.22) * size);
    this.group = new THREE.Group().add(...this.ends, this.rod.mesh);
    this.axes = loop.rotations.slice(0, 1).map((axis) => axisMark(axis, 0.8 * size, false));
    this.turn = alongZ([...loop.rotations, ...loop.translations, [0, 0, 1]][0]);
    this.frame = new THREE.Group();
    this.axes.forEach((axis) => this.frame.add(axis));
    this.group.add(this.frame);
  }

  place(a, b) {
    [a, b].forEach((end, k) => { this.ends[k].position.copy(end.p); this.ends[k].quaternion.copy(end.q).multiply(this.turn); });
    this.frame.position.copy(a.p);
    this.frame.quaternion.copy(a.q);
    this.rod.place(a.p, b.p);
  }
}

// A wheel: a disc with a mark to see it turn, where its axis leaves the body (a wheel has no place of its own).
class WheelMark {
  constructor(wheel, radius, offset) {
    this.wheel = wheel;
    this.group = new THREE.Group();
    this.turn = alongZ(wheel.axis);
    this.offset = new THREE.Vector3(...wheel.axis).normalize().multiplyScalar(offset + 0.2 * radius);
    this.center = new THREE.Vector3(...wheel.center);
    this.disc = marker(GLYPH.disc, basic(MARKS.wheel));
    for (let k = 0; k < 3; k++) {
      const spoke = marker(new THREE.BoxGeometry(0.72, 0.17, 0.32), basic(k ? "#6d7886" : MARKS.axis));
      spoke.position.set(0.5 * Math.cos(k * 2.0944), 0.5 * Math.sin(k * 2.0944), 0.01);
      spoke.rotation.z = k * 2.0944;
      this.disc.add(spoke);
    }
    this.disc.scale.setScalar(radius);
    this.group.add(this.disc);
  }

  place(locate, angle) {
    this.group.position.copy(this.center).add(this.offset).applyQuaternion(locate.q).add(locate.p);
    this.group.quaternion.copy(locate.q).multiply(this.turn);
    this.disc.rotation.z = angle;
  }
}
