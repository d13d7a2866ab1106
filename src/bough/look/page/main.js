// Puts all together, and draws when something has changed.

class Replay {
  constructor(spec) {
    const stage = new Stage(find("stage")), world = new World(spec, stage), eye = new Eye(stage, world.up);
    Object.assign(this, { spec, stage, world, eye, labels: new Labels(find("labels"), stage), modes: new Modes(world) });
    this.pick = (k) => this.picked(k);
    this.transport = new Transport(world.motion, spec.events, (t) => this.moved(t));
    this.plots = new Plots(find("plots"), spec.curves, world.motion, (t) => this.transport.seek(t));
    this.tree = new Tree(find("tree"), find("details"), world, this.pick, (text) => window.replay.follow(text));
    this.controls = new Controls(find("options"), world, this.modes, this.labels);
    this.follow = new Follow(world, eye);
    listenForPicks(stage, world, this.pick);
    listenForKeys(actions(this));
    find("search").addEventListener("input", (event) => this.tree.find(event.target.value));
    this.before = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  moved(t) {
    this.world.update(t);
    this.plots.update(t);
    this.tree.update();
  }

  picked(k) {
    this.world.pick(k);
    this.tree.mark(k);
    if (k >= 0) this.plots.focus(this.spec.bodies[k].name);
  }

  tick(now) {
    const seconds = Math.min(0.1, (now - this.before) / 1000);
    this.before = now;
    if (this.modes.showing) this.modes.advance(seconds); else this.transport.advance(seconds);
    if (this.stage.stale) this.draw();
    requestAnimationFrame((next) => this.tick(next));
  }

  draw() {
    const { world, spec, labels, stage, eye } = this;
    this.follow.place();
    world.placeGround(eye.target);
    const named = labels.all ? spec.bodies.map((_, k) => k).slice(0, 120) : world.picked >= 0 ? [world.picked] : [];
    labels.show(named.map((k) => [spec.bodies[k].name, world.middle(k)]), world.picked >= 0 ? spec.bodies[world.picked].name : "");
    scaleBar(stage, eye);
    stage.draw();
  }

  // Where a body is on the screen, in pixels of the window.
  screen(k) {
    this.draw();
    const box = this.stage.canvas.getBoundingClientRect(), v = this.world.middle(k).project(this.stage.camera);
    return [box.left + (v.x + 1) / 2 * box.width, box.top + (1 - v.y) / 2 * box.height];
  }
}

// What a script or a test can ask and do, by names.
function published(replay) {
  const { spec, world, eye, plots, modes, controls, transport } = replay;
  const number = (name) => spec.bodies.findIndex((body) => body.name === name);
  return {
    world, eye, plots, modes, controls,
    get time() { return transport.time; },
    get playing() { return transport.playing; },
    get picked() { return world.picked >= 0 ? spec.bodies[world.picked].name : null; },
    play: () => transport.play(),
    pause: () => transport.pause(),
    seek: (t) => transport.seek(t),
    pick: (name) => replay.pick(number(name)),
    follow: (name) => replay.follow.choose(name === "world" || name === "center" ? name : String(number(name))),
    trace: (name, on = true) => world.trace(number(name), on),
    position: (name) => world.actual[number(name)].p.toArray().map((x, k) => x + world.origin[k]),
    screen: (name) => replay.screen(number(name)),
  };
}

function about(spec, frames) {
  const kept = frames === spec.samples ? `${frames} frames` : `${frames} frames of ${spec.samples} samples, interpolated between`;
  const run = spec.run === null ? "" : `, run ${spec.run}`;
  return `${spec.bodies.length} bod${spec.bodies.length > 1 ? "ies" : "y"}, ${kept}${run}, ${spec.method}, bough ${spec.version}`;
}

// A bar of a round length, at the distance that the camera turns about.
function scaleBar(stage, eye) {
  const meters = 2 * eye.distance * Math.tan(stage.camera.fov * Math.PI / 360) / stage.size[1], length = roundNumber(80 * meters);
  const [bar, text] = find("scale").children, [size, unit] = length >= 1e4 ? [1e3, "km"] : length >= 1 ? [1, "m"] : [1e-3, "mm"];
  bar.style.width = `${length / meters}px`;
  text.textContent = `${brief(length / size)} ${unit}`;
}

function tell(message) {
  find("message").hidden = false;
  find("message").textContent = message;
}

async function main() {
  const spec = JSON.parse(find("scene-data").textContent);
  await unpackAll(spec);
  setTheme(window.matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
  if (window.innerWidth < 1000) find("app").classList.add("no-right");
  if (window.innerWidth < 700) find("app").classList.add("no-left");
  find("name").textContent = spec.name;
  find("about").textContent = about(spec, spec.time.rows);
  if (spec.failure) tell(spec.failure);
  window.replay = published(new Replay(spec));
}

main().catch((error) => {
  tell(`The replay cannot be shown: ${error.message}. It needs WebGL and a browser of 2023 or later.`);
  throw error;
});
