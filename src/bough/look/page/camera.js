// The camera: turns about a point, moves along the picture, comes near; may go along with a body, and turn with it.

class Eye {
  constructor(stage, up) {
    Object.assign(this, { stage, azimuth: -1.05, elevation: 0.34, distance: 10, radius: 1, body: null, turning: false });
    this.point = [0, 0, 0];                                     // in the world, or relative to what is followed
    this.upright = new THREE.Quaternion().setFromUnitVectors(Z, up);
    this.basis = new THREE.Quaternion();
    this.fingers = new Map();
    const canvas = stage.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.fingers.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.0012));
    }, { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  down(event) {
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
  }

  move(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
    if (this.fingers.size > 1) this.pinch(event, dx, dy);
    else if (event.buttons & 6 || event.shiftKey) this.pan(dx, dy);
    else this.orbit(dx, dy);
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
  }

  pinch(event, dx, dy) {
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)[1], own = this.fingers.get(event.pointerId);
    const before = Math.hypot(own[0] - other[0], own[1] - other[1]);
    const after = Math.hypot(event.clientX - other[0], event.clientY - other[1]);
    this.zoom(before / Math.max(1, after));
    this.pan(dx / 2, dy / 2);
  }

  orbit(dx, dy) {
    this.azimuth -= 0.008 * dx;
    this.elevation = Math.min(1.55, Math.max(-1.55, this.elevation + 0.008 * dy));
    this.stage.stale = true;
  }

  zoom(factor) {
    this.distance = Math.min(200 * this.radius, Math.max(0.01 * this.radius, this.distance * factor));
    this.stage.stale = true;
  }

  pan(dx, dy) {
    const meters = 2 * this.distance * Math.tan(this.stage.camera.fov * Math.PI / 360) / this.stage.size[1];
    const shift = new THREE.Vector3(-dx, dy, 0).multiplyScalar(meters).applyQuaternion(this.stage.camera.quaternion);
    if (this.turning) shift.applyQuaternion(this.basis.clone().conjugate());
    shift.toArray().forEach((value, k) => { this.point[k] += value; });
    this.stage.stale = true;
  }

  look(azimuth, elevation) {
    [this.azimuth, this.elevation] = [azimuth, elevation];
    this.stage.stale = true;
  }

  // From how far off all these points, relative to what the camera turns about, are in the picture.
  distanceFor(points) {
    const { camera } = this.stage, slope = Math.tan(camera.fov * Math.PI / 360);
    const v = new THREE.Vector3(), turn = camera.quaternion.clone().conjugate();
    return 1.1 * points.reduce((far, p) => {
      v.set(...p).applyQuaternion(turn);
      return Math.max(far, v.z + Math.abs(v.y) / slope, v.z + Math.abs(v.x) / (slope * camera.aspect));
    }, 0);
  }

  // Places the camera: coordinates of the stage are those of the world less `origin`; `followed` is a Rigid of the stage, or null.
  place(origin, followed) {
    this.basis.identity();
    const target = new THREE.Vector3();
    if (followed) {
      if (this.turning) this.basis.copy(followed.q);
      target.set(...this.point).applyQuaternion(this.basis).add(followed.p);
    } else target.set(...this.point.map((value, k) => value - origin[k]));
    const { camera } = this.stage, { azimuth, elevation } = this, cos = Math.cos(elevation);
    const upright = this.turning && followed ? this.basis.clone().multiply(this.upright) : this.upright;
    const out = new THREE.Vector3(cos * Math.cos(azimuth), cos * Math.sin(azimuth), Math.sin(elevation)).applyQuaternion(upright);
    camera.up.copy(Z).applyQuaternion(upright);
    camera.position.copy(target).addScaledVector(out, this.distance);
    camera.lookAt(target);
    camera.near = 0.005 * this.distance;
    camera.far = 3 * this.distance + 60 * this.radius;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    this.target = target;
  }
}
