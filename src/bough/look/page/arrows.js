// Forces and moments as arrows; in each group the largest of the whole run has one length.

const ARROWS = { force: arrowGeometry(1), moment: arrowGeometry(2) };
const GHOSTS = Object.fromEntries(["force", "moment"].map((kind) => [kind, new THREE.MeshBasicMaterial({
  color: MARKS[kind], transparent: true, opacity: 0.3, depthFunc: THREE.GreaterDepth, depthWrite: false })]));

class Arrows {
  constructor(loads, motion, size) {
    Object.assign(this, { motion, size, factor: 1 });
    this.groups = new Map();
    for (const load of loads) {
      const mesh = new THREE.Mesh(ARROWS[load.kind], new THREE.MeshStandardMaterial({ color: MARKS[load.kind], roughness: 0.5 }));
      mesh.add(new THREE.Mesh(ARROWS[load.kind], GHOSTS[load.kind]));       // what bodies hide shines through
      const group = this.group(load.group);
      group.largest[load.kind] = Math.max(group.largest[load.kind], load.largest);
      group.arrows.push({ load, mesh });
      group.object.add(mesh);
    }
  }

  // A group by its name; what acts from outside is shown from the start.
  group(name) {
    if (!this.groups.has(name)) {
      this.groups.set(name, { on: name === "wrenches", largest: { force: 0, moment: 0 }, arrows: [], object: new THREE.Group() });
    }
    return this.groups.get(name);
  }

  place(t, seatOf) {
    const v = new THREE.Vector3(), locate = new Rigid();
    for (const group of this.groups.values()) {
      group.object.visible = group.on;
      if (!group.on) continue;
      for (const { load, mesh } of group.arrows) {
        this.motion.vector(load.values, 0, t, v);
        const length = v.length() / group.largest[load.kind] * this.size * this.factor;
        mesh.visible = length > 1e-3 * this.size;
        if (!mesh.visible) continue;
        seatOf(load.place, locate);
        if (load.axes === "place") v.applyQuaternion(locate.q);
        mesh.position.copy(locate.p);
        mesh.quaternion.setFromUnitVectors(Z, v.normalize());
        const thickness = 0.55 * Math.min(length, this.size * this.factor) + 0.15 * this.size;
        mesh.scale.set(thickness, thickness, length);
      }
    }
  }
}
