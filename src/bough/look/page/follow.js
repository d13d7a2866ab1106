// What the camera goes along with: nothing, the mass center, or a body; and how all comes into view.

class Follow {
  constructor(world, eye) {
    Object.assign(this, { world, eye, box: find("follow"), still: new Rigid() });
    this.box.append(new Option("fixed", "world"), new Option("follows the mass center", "center"));
    world.bodies.forEach((body, k) => this.box.append(new Option(`follows ${body.name}`, k)));
    this.box.addEventListener("change", () => this.choose(this.box.value));
    find("turn").addEventListener("change", () => this.choose(this.box.value));
    find("turn-box").style.visibility = "hidden";
    this.box.value = world.roams ? "center" : "world";
    this.fit();
  }

  // A Rigid of the stage, or null for the world.
  get target() {
    const { value } = this.box;
    return value === "world" ? null : value === "center" ? this.still : this.world.shown[Number(value)];
  }

  choose(value) {
    const { eye, world } = this;
    this.box.value = value;
    const body = value === "world" || value === "center" ? -1 : Number(value);
    find("turn-box").style.visibility = body >= 0 ? "visible" : "hidden";
    eye.turning = body >= 0 && find("turn").checked;
    if (body >= 0) eye.point = this.middleOf(body);
    else eye.point = eye.target.toArray().map((x, k) => x + (value === "world" ? world.origin[k] : 0));      // the picture stays
    eye.stage.stale = true;
  }

  // The middle of a body from its origin, in its own axes if the camera turns with it.
  middleOf(body) {
    const { p, q } = this.world.shown[body], arm = this.world.middle(body).sub(p);
    return (this.eye.turning ? arm.applyQuaternion(q.clone().conjugate()) : arm).toArray();
  }

  fit() {
    const { eye, world } = this, still = this.box.value === "world";
    const center = still ? sizeOf(world.corners.world).center : [0, 0, 0];
    Object.assign(eye, { radius: world.radius, distance: world.radius, point: [...center] });
    this.place();                                               // its direction decides how far it must be
    eye.distance = eye.distanceFor(world.corners[still ? "world" : "center"].map((p) => p.map((x, k) => x - center[k])));
    this.place();
    eye.stage.stale = true;
  }

  place() { this.eye.place(this.world.origin, this.target); }
}
