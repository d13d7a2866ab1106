// Paths of points over the whole run: what is past is bright, what is to come is faint.

class Trace {
  constructor(motion, body, point, color) {
    Object.assign(this, { motion, body });
    const rigid = new Rigid(), n = motion.frames;
    this.world = new Float64Array(3 * n);                       // in doubles: it may be far from the origin
    for (let i = 0; i < n; i++) {
      const t = motion.time[i], origin = motion.origin(t);
      motion.pose(body, t, rigid);
      const place = new THREE.Vector3(...point).applyQuaternion(rigid.q).add(rigid.p).toArray();
      for (let k = 0; k < 3; k++) this.world[3 * i + k] = origin[k] + place[k];
    }
    this.geometry = new THREE.BufferGeometry();
    this.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * n), 3));
    const look = (opacity) => new THREE.LineBasicMaterial({ color: color, transparent: true, opacity });
    const line = (opacity) => new THREE.Line(this.geometry.clone(), look(opacity));
    [this.past, this.whole] = [line(1), line(0.28)];
    this.past.frustumCulled = this.whole.frustumCulled = false;
    this.group = new THREE.Group().add(this.past, this.whole);
  }

  place(t, origin) {
    for (const line of [this.past, this.whole]) {
      const { position } = line.geometry.attributes;
      for (let k = 0; k < position.array.length; k++) position.array[k] = this.world[k] - origin[k % 3];
      position.needsUpdate = true;
    }
    this.past.geometry.setDrawRange(0, this.motion.at(t).i + 1);
  }
}
