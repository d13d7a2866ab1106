// Puts all together; `window.replay` is what a script or a test can ask and do.

const KEYS = [["space", "play, pause"], ["← →", "a frame back, on"], ["+ −", "faster, slower"], ["Home End", "start, end"], ["drag", "turn; with shift or the right button: move"],
  ["wheel", "nearer, farther"], ["click", "pick a body"], ["F", "fit into view"], ["C", "follow the picked body"], ["1 2 3", "look along x, y, z"], ["B P", "panels left, right"], ["D", "dark, light"], ["R", "repeat"], ["?", "these keys"]];

async function main() {
  const told = JSON.parse(document.getElementById("scene-data").textContent);
  await unpackAll(told);
  const find = (id) => document.getElementById(id), app = find("app");
  setTheme(window.matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
  if (window.innerWidth < 1000) app.classList.add("no-right");
  if (window.innerWidth < 700) app.classList.add("no-left");
  const stage = new Stage(find("stage")), world = new World(told, stage), eye = new Eye(stage, world.up);
  const labels = new Labels(find("labels"), stage), modes = new Modes(world);
  const transport = new Transport(world.motion, told.events, (t) => { world.update(t); plots.update(t); tree.update(); });
  const plots = new Plots(find("plots"), told.curves, world.motion, (t) => transport.seek(t));
  const tree = new Tree(find("tree"), find("details"), world, (k) => pick(k));
  const controls = new Controls(find("options"), world, modes, labels);

  find("name").textContent = told.name;
  find("about").textContent = about(told, world.motion);
  if (told.failure) { find("message").hidden = false; find("message").textContent = told.failure; }
  find("keys").innerHTML = `<table>${KEYS.map(([key, text]) => `<tr><td>${key}</td><td>${text}</td></tr>`).join("")}</table>`;

  function pick(k) {
    world.pick(k);
    tree.mark(k);
    if (k >= 0) plots.focus(told.bodies[k].name);
  }

  // ---- the camera ------------------------------------------------------------------------------------------------
  const followBox = find("follow");
  followBox.append(new Option("stands still", "world"), new Option("follows the mass centre", "centre"));
  told.bodies.forEach((body, k) => followBox.append(new Option(`follows ${body.name}`, k)));
  const still = new Rigid();
  const followed = () => followBox.value === "world" ? null : followBox.value === "centre" ? still : world.shown[Number(followBox.value)];
  function follow(value) {
    followBox.value = value;
    const body = value === "world" || value === "centre" ? null : world.bodies[value];
    find("turn-box").style.visibility = body ? "visible" : "hidden";
    eye.turning = Boolean(body) && find("turn").checked;
    const target = eye.target.clone();                          // the picture stays where it is
    if (!followed()) eye.point = target.toArray().map((x, k) => x + world.origin[k]);
    else if (!body) eye.point = target.toArray();
    else eye.point = world.middle(Number(value)).sub(world.shown[Number(value)].p).applyQuaternion(eye.turning ? world.shown[Number(value)].q.clone().conjugate() : new THREE.Quaternion()).toArray();
    stage.stale = true;
  }
  followBox.addEventListener("change", () => follow(followBox.value));
  find("turn").addEventListener("change", () => follow(followBox.value));
  function fit() {
    eye.radius = eye.distance = world.radius;
    const [kind, centre] = followBox.value === "world" ? ["world", sizeOf(world.corners.world).centre] : ["centre", [0, 0, 0]];
    eye.point = [...centre];
    eye.place(world.origin, followed());                        // the way it looks decides how far it must be
    eye.distance = eye.distanceFor(world.corners[kind].map((p) => p.map((x, k) => x - centre[k])));
    stage.stale = true;
  }
  followBox.value = world.roams ? "centre" : "world";
  find("turn-box").style.visibility = "hidden";
  fit();
  eye.place(world.origin, followed());

  // ---- picking: a click that does not drag ---------------------------------------------------------------------------
  let pressed = null;
  stage.canvas.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
  stage.canvas.addEventListener("pointerup", (event) => {
    if (!pressed || Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4 || event.button !== 0) return;
    const [width, height] = stage.size, ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * event.offsetX / width - 1, 1 - 2 * event.offsetY / height), stage.camera);
    const hit = ray.intersectObjects(world.meshes, true).find(({ object }) => object.isMesh && object.userData.body !== undefined);
    pick(hit ? hit.object.userData.body : -1);
  });

  // ---- buttons and keys ------------------------------------------------------------------------------------------------
  function setTheme(name) { document.documentElement.dataset.theme = name; }
  const acts = {
    " ": () => transport.toggle(), ArrowLeft: () => transport.step(-1), ArrowRight: () => transport.step(1), "+": () => transport.faster(1), "-": () => transport.faster(-1),
    Home: () => transport.seek(world.motion.start), End: () => transport.seek(world.motion.end), f: fit, c: () => { if (world.picked >= 0) follow(String(world.picked)); },
    1: () => eye.look(0, 0), 2: () => eye.look(-Math.PI / 2, 0), 3: () => eye.look(-Math.PI / 2, 1.55), r: () => transport.setRepeat(!transport.repeat),
    d: () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); plots.redraw(); stage.stale = true; },
    b: () => { app.classList.toggle("no-left"); }, p: () => { app.classList.toggle("no-right"); }, "?": () => { find("keys").hidden = !find("keys").hidden; },
    Escape: () => { find("keys").hidden = true; pick(-1); },
  };
  window.addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = acts[event.key] || acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
  for (const [id, key] of [["fit", "f"], ["theme", "d"], ["help", "?"], ["toggle-left", "b"], ["toggle-right", "p"]]) find(id).addEventListener("click", acts[key]);
  find("search").addEventListener("input", (event) => tree.find(event.target.value));

  // ---- the loop -----------------------------------------------------------------------------------------------------------
  function frame() {
    eye.place(world.origin, followed());
    world.placeGround(eye.target);
    labels.show(labelled(), world.picked >= 0 ? told.bodies[world.picked].name : "");
    scaleBar(stage, eye);
    stage.draw();
  }
  function labelled() {
    const wanted = labels.all ? told.bodies.map((_, k) => k).slice(0, 120) : world.picked >= 0 ? [world.picked] : [];
    return wanted.map((k) => [told.bodies[k].name, world.middle(k)]);
  }
  let before = performance.now();
  function tick(now) {
    const seconds = Math.min(0.1, (now - before) / 1000);
    before = now;
    if (modes.showing) modes.advance(seconds); else transport.advance(seconds);
    if (stage.stale) frame();
    requestAnimationFrame(tick);
  }
  requestAnimationFrame(tick);

  const number = (name) => told.bodies.findIndex((body) => body.name === name);
  window.replay = {
    world, eye, plots, modes, controls,
    get time() { return transport.time; }, get playing() { return transport.playing; },
    get picked() { return world.picked >= 0 ? told.bodies[world.picked].name : null; },
    play: () => transport.play(), pause: () => transport.pause(), seek: (t) => transport.seek(t),
    pick: (name) => pick(number(name)), follow: (name) => follow(name === "world" || name === "centre" ? name : String(number(name))),
    trace: (name, on = true) => world.trace(number(name), on),
    position: (name) => world.actual[number(name)].p.toArray().map((x, k) => x + world.origin[k]),
    screen: (name) => {
      frame();
      const box = stage.canvas.getBoundingClientRect(), v = world.middle(number(name)).project(stage.camera);
      return [box.left + (v.x + 1) / 2 * box.width, box.top + (1 - v.y) / 2 * box.height];
    },
  };
}

function about(told, motion) {
  const frames = motion.frames === told.samples ? `${motion.frames} frames` : `${motion.frames} frames of ${told.samples} samples, interpolated between`;
  const run = told.run === null ? "" : `, run ${told.run}`;
  return `${told.bodies.length} bod${told.bodies.length > 1 ? "ies" : "y"}, ${frames}${run}, ${told.method}, bough ${told.version}`;
}

// A bar of a round length, at the distance that the camera turns about.
function scaleBar(stage, eye) {
  const metres = 2 * eye.distance * Math.tan(stage.camera.fov * Math.PI / 360) / stage.size[1], length = roundNumber(80 * metres);
  const [bar, text] = document.getElementById("scale").children;
  bar.style.width = `${length / metres}px`;
  text.textContent = length >= 1e4 ? `${brief(length / 1000)} km` : length >= 1 ? `${brief(length)} m` : length >= 1e-3 ? `${brief(length * 1000)} mm` : `${brief(length)} m`;
}

main().catch((error) => {
  const message = document.getElementById("message");
  message.hidden = false;
  message.textContent = `The replay cannot be shown: ${error.message}. It needs WebGL and a browser of 2023 or later.`;
  throw error;
});
