// The options below the tree: what is shown, how deformations look, how long arrows are, which mode swings.

class Controls {
  constructor(box, world, modes, labels) {
    Object.assign(this, { box, world, modes, labels });
    this.addShown();
    if (world.flexible.some(Boolean)) { this.addDeformation(); this.addModes(); }
    if (world.arrows.groups.size) this.addLoads();
  }

  section(title, open) {
    const details = make("details", { open });
    details.append(make("summary", { textContent: title }));
    this.box.append(details);
    return details;
  }

  check(box, text, on, act) {
    const label = make("label"), input = make("input", { type: "checkbox", checked: on });
    input.addEventListener("change", () => { act(input.checked); this.world.update(this.world.t); });
    label.append(input, text);
    box.append(label);
  }

  // A slider over powers of ten.
  knob(box, text, low, high, start, act) {
    const row = make("label", { className: "knob" }), spec = make("output");
    const input = make("input", { type: "range", min: low, max: high, step: 0.02, value: start });
    const hear = () => { const value = 10 ** Number(input.value); spec.textContent = `× ${brief(value, 2)}`; act(value); };
    input.addEventListener("input", () => { hear(); this.world.update(this.world.t); });
    input.addEventListener("dblclick", () => { input.value = start; hear(); this.world.update(this.world.t); });
    row.append(text, input, spec);
    box.append(row);
    hear();
    return input;
  }

  choice(box, text, options, act) {
    const row = make("label", { className: "knob" }), select = make("select");
    for (const [value, name] of options) select.append(new Option(name, value));
    select.addEventListener("change", () => act(select.value));
    row.append(text, select);
    box.append(row);
    return select;
  }

  addShown() {
    const { world } = this, box = this.section("Show", true), checks = make("div", { className: "checks" });
    const layer = (name, text, on, there = true) => {
      world.layers[name].visible = on;
      if (there) this.check(checks, text, on, (value) => { world.layers[name].visible = value; });
    };
    layer("joints", "joints", true);
    const few = world.bodies.length <= 40;
    this.check(checks, "joint axes", few, (on) => this.showAxes(on));
    this.showAxes(few);
    layer("frames", "frames", false);
    layer("ground", world.spec.water.length ? "water" : "ground", true, Boolean(world.plane));
    layer("loops", "loops", true, world.loops.length > 0);
    layer("wheels", "wheels", true, world.wheels.length > 0);
    layer("lines", "lines", true, world.lines.length + world.springs.length > 0);
    this.check(checks, "names", false, (on) => { this.labels.all = on; });
    this.check(checks, "see-through", false, (on) => this.fade(on));
    box.append(checks);
    const slowed = world.wheels.length ? world.spec.wheels[0].slowed : 1;
    if (slowed > 1) box.append(note(`wheels are drawn ${slowed} times slower than they turn`));
  }

  showAxes(on) {
    const { joints, loops } = this.world.layers;
    for (const layer of [joints, loops]) layer.traverse((each) => { if (each.name === "axis") each.visible = on; });
  }

  fade(on) {
    this.world.layers.bodies.traverse((each) => {
      if (each.isMesh) seeThrough(each, (on ? 0.35 : 1) * (each.userData.opacity ?? 1));
    });
  }

  addDeformation() {
    const { world } = this, box = this.section("Deformation", true);
    const kinds = new Set(world.flexible.filter(Boolean).flatMap((each) => each.measures));
    this.knob(box, "scale", -1, 3, 0, (value) => { world.scale = Math.abs(value - 1) < 0.02 ? 1 : value; });
    const options = [["none", "color of the limb"], ...["displacement", ...kinds].map((key) => [key, MEASURES[key].title])];
    this.color = this.choice(box, "color", options, (value) => this.measure(value));
  }

  measure(what) {
    const legend = find("legend");
    this.world.measure = what;
    this.world.update(this.world.t);
    legend.hidden = what === "none";
    if (legend.hidden) return;
    const { title: text, unit } = MEASURES[what];
    const stops = SCALE.map(([at, c]) => `#${c.getHexString()} ${100 * at}%`).join(", ");
    const largest = this.world.largest() / (this.world.mode ? 1 : this.world.scale);
    const ends = `<span>0</span><span>${largest > 1e-12 ? brief(largest, 3) : "0"}</span>`;
    legend.innerHTML = `${text}${unit ? ` [${unit}]` : ""}<div class="bar"></div><div class="ends">${ends}</div>`;
    legend.querySelector(".bar").style.background = `linear-gradient(90deg, ${stops})`;
  }

  addModes() {
    const { world, modes } = this, box = this.section("Mode shapes", false);
    const options = [["", "off"]];
    world.bodies.forEach(({ name, flexible }, k) => {
      if (flexible) flexible.frequencies.forEach((f, r) => options.push([`${k} ${r}`, `${name} ${r + 1}: ${brief(f)} Hz`]));
    });
    this.mode = this.choice(box, "mode", options, (value) => {
      const [body, mode] = value ? value.split(" ").map(Number) : [-1, 0];
      modes.show(body, mode);
      this.measure(world.measure);
    });
    this.knob(box, "amplitude", -1, 1, 0, (value) => { modes.amplitude = value; });
    box.append(note("swings at 0.7 Hz, whatever its frequency; the run stands still"));
  }

  addLoads() {
    const { world } = this, box = this.section("Forces and moments", true);
    const checks = make("div", { className: "checks" });
    for (const [name, group] of world.arrows.groups) this.check(checks, name, group.on, (on) => { group.on = on; this.tell(); });
    box.append(checks);
    this.knob(box, "length", -1.5, 1.5, 0, (value) => { world.arrows.factor = value; });
    this.spec = note("");
    box.append(this.spec);
    this.tell();
  }

  // What the longest arrow of each group stands for.
  tell() {
    const texts = [];
    for (const [name, group] of this.world.arrows.groups) {
      if (!group.on) continue;
      const parts = [["force", "N"], ["moment", "N m"]].filter(([kind]) => group.largest[kind] > 0)
        .map(([kind, unit]) => `${brief(group.largest[kind], 3)} ${unit}`);
      texts.push(`${name}: longest ${parts.join(", ")}`);
    }
    this.spec.textContent = texts.join("; ");
  }
}

const note = (text) => make("p", { textContent: text, className: "note" });
