// The panel of bodies and joints: a click picks in the scene, and the scene picks here.

class Tree {
  constructor(box, details, world, picked, follow) {
    Object.assign(this, { box, details, world, picked, follow, rows: new Map() });
    const children = new Map();
    world.bodies.forEach(({ parent }, k) => children.set(parent, [...(children.get(parent) || []), k]));
    this.addGroup("Bodies and joints");
    const waiting = [...(children.get(-1) || [])].reverse().map((k) => [k, 0]);
    while (waiting.length) {
      const [k, depth] = waiting.pop(), below = children.get(k) || [];
      this.addBody(k, depth);
      for (const child of [...below].reverse()) waiting.push([child, below.length > 1 ? depth + 1 : depth]);
    }
    for (const [title, key] of [["Loops", "loop"], ["Wheels", "wheel"], ["Lines", "line"]]) {
      const parts = world.spec[key + "s"];
      if (parts.length) this.addGroup(title);
      for (const part of parts) this.addPart(part, MARKS[key]);
    }
    this.show(-1);
  }

  addGroup(title) {
    this.box.append(make("div", { className: "group", textContent: title }));
  }

  addRow(name, about, color, depth, act) {
    const row = make("div", { className: "row" });
    row.style.marginLeft = Math.min(depth, 8) * 13 + "px";
    row.setAttribute("role", "treeitem");
    row.append(make("i"), name, make("small", { textContent: about }));
    row.firstChild.style.background = color;
    row.dataset.text = `${name} ${about}`.toLowerCase();
    row.addEventListener("click", act);
    this.box.append(row);
    return row;
  }

  addBody(k, depth) {
    const body = this.world.bodies[k], { joint } = body;
    const own = joint.name === body.name ? "" : `${joint.name}, `, dofs = joint.kind === "free" ? "" : ` ${joint.dofs.join(" ")}`;
    const color = "#" + this.world.colors[k].getHexString();
    this.rows.set(k, this.addRow(body.name, own + joint.kind + dofs, color, depth, () => this.picked(k)));
  }

  addPart(part, color) {
    const on = part.place || part.b;
    this.addRow(part.name, part.kind || "", color, 0, () => { if (on.body >= 0) this.picked(on.body); });
  }

  find(text) {
    const wanted = text.toLowerCase();
    for (const row of this.box.querySelectorAll(".row")) row.style.display = row.dataset.text.includes(wanted) ? "" : "none";
  }

  mark(k) {
    for (const row of this.box.querySelectorAll(".picked")) row.classList.remove("picked");
    const row = this.rows.get(k);
    if (row) { row.classList.add("picked"); row.scrollIntoView({ block: "nearest" }); }
    this.show(k);
  }

  show(k) {
    const { world, details } = this;
    details.textContent = "";
    if (k < 0) {
      details.append(make("span", { className: "hint", textContent: "Click a body here or in the view." }));
      return;
    }
    const body = world.bodies[k], facts = make("dl");
    const add = (name, text) => {
      facts.append(make("dt", { textContent: name }), make("dd", { textContent: text }));
      return facts.lastChild;
    };
    for (const [name, text] of this.facts(body)) add(name, text);
    this.place = add("at", "");
    const trace = button("Trace", () => {
      world.trace(k, !world.traces.has(k));
      trace.setAttribute("aria-pressed", world.traces.has(k));
    });
    trace.setAttribute("aria-pressed", world.traces.has(k));
    const name = make("b", { textContent: body.name, id: "picked-name" });
    details.append(name, facts, button("Follow", () => this.follow(body.name)), " ", trace);
    this.update();
  }

  facts({ joint, parent, mass, flexible }) {
    const dofs = joint.dofs.length ? `: ${joint.dofs.join(" ")}` : "", on = parent < 0 ? "world" : this.world.bodies[parent].name;
    const found = [["joint", `${joint.kind}${dofs}, on ${on}`], ["mass", `${brief(mass)} kg`]];
    if (!flexible) return found;
    const first = flexible.frequencies.slice(0, 4).map((f) => brief(f)).join(", ");
    return [...found, ["modes", `${flexible.modes}: ${first}${flexible.modes > 4 ? " …" : ""} Hz`]];
  }

  update() {
    const k = this.world.picked;
    if (k < 0 || !this.place) return;
    const at = this.world.actual[k].p.toArray().map((x, i) => x + this.world.origin[i]);
    this.place.textContent = at.map((x) => brief(x, 5)).join(", ") + " m";
  }
}
