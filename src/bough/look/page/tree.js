// The panel of bodies and joints: a click picks in the scene, and the scene picks here.

class Tree {
  constructor(box, details, world, picked) {
    Object.assign(this, { box, details, world, picked, rows: new Map() });
    const children = new Map();
    world.bodies.forEach((body, k) => { if (!children.has(body.parent)) children.set(body.parent, []); children.get(body.parent).push(k); });
    this.addGroup("Bodies and joints");
    const waiting = [...(children.get(-1) || [])].reverse().map((k) => [k, 0]);
    while (waiting.length) {
      const [k, depth] = waiting.pop(), below = children.get(k) || [];
      this.addBody(k, depth);
      for (const child of [...below].reverse()) waiting.push([child, below.length > 1 ? depth + 1 : depth]);
    }
    for (const [title, parts, colour] of [["Loops", world.told.loops, MARKS.loop], ["Wheels", world.told.wheels, MARKS.wheel], ["Lines", world.told.lines, MARKS.line]]) {
      if (!parts.length) continue;
      this.addGroup(title);
      for (const part of parts) this.addPart(part, colour);
    }
    this.show(-1);
  }

  addGroup(title) {
    const head = document.createElement("div");
    head.className = "group";
    head.textContent = title;
    this.box.append(head);
  }

  addRow(name, about, colour, depth, act) {
    const row = document.createElement("div");
    row.className = "row";
    row.style.marginLeft = Math.min(depth, 8) * 13 + "px";
    row.setAttribute("role", "treeitem");
    row.append(document.createElement("i"), name, Object.assign(document.createElement("small"), { textContent: about }));
    row.firstChild.style.background = colour;
    row.dataset.text = `${name} ${about}`.toLowerCase();
    row.addEventListener("click", act);
    this.box.append(row);
    return row;
  }

  addBody(k, depth) {
    const body = this.world.bodies[k], { joint } = body;
    const about = (joint.name === body.name ? "" : joint.name + ", ") + joint.kind + (joint.dofs.length && joint.kind !== "free" ? ` ${joint.dofs.join(" ")}` : "");
    this.rows.set(k, this.addRow(body.name, about, "#" + this.world.colours[k].getHexString(), depth, () => this.picked(k)));
  }

  addPart(part, colour) {
    const on = part.place || part.b;
    this.addRow(part.name, part.kind || "", colour, 0, () => { if (on.body >= 0) this.picked(on.body); });
  }

  find(text) {
    for (const row of this.box.querySelectorAll(".row")) row.hidden = !row.dataset.text.includes(text.toLowerCase());
    for (const row of this.box.querySelectorAll(".row")) row.style.display = row.hidden ? "none" : "";
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
      details.innerHTML = '<span class="hint">Click a body here or in the picture.</span>';
      return;
    }
    const body = world.bodies[k], facts = document.createElement("dl");
    const add = (name, text) => { facts.append(Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: text })); return facts.lastChild; };
    add("joint", `${body.joint.kind}${body.joint.dofs.length ? ": " + body.joint.dofs.join(" ") : ""}, on ${body.parent < 0 ? "world" : world.bodies[body.parent].name}`);
    add("mass", `${brief(body.mass)} kg`);
    if (body.flexible) add("modes", `${body.flexible.modes}, ${body.flexible.frequencies.slice(0, 4).map((f) => brief(f)).join(", ")}${body.flexible.modes > 4 ? " …" : ""} Hz`);
    this.place = add("at", "");
    details.append(Object.assign(document.createElement("b"), { textContent: body.name, id: "picked-name" }), facts);
    const follow = button("Follow", () => window.replay.follow(body.name)), trace = button("Trace", () => {
      window.replay.trace(body.name, !world.traces.has(k));
      trace.setAttribute("aria-pressed", world.traces.has(k));
    });
    trace.setAttribute("aria-pressed", world.traces.has(k));
    details.append(follow, " ", trace);
    this.update();
  }

  update() {
    const k = this.world.picked;
    if (k < 0 || !this.place) return;
    const at = this.world.actual[k].p.toArray().map((x, i) => x + this.world.origin[i]);
    this.place.textContent = at.map((x) => brief(x, 5)).join(", ") + " m";
  }
}

function button(text, act) {
  const made = Object.assign(document.createElement("button"), { textContent: text });
  made.addEventListener("click", act);
  return made;
}

// A number with few digits; no sign of a rounding error near zero.
function brief(x, digits = 4) {
  if (!Number.isFinite(x)) return "–";
  if (Math.abs(x) < 1e-12) return "0";
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-3 ? x.toExponential(digits - 2) : String(Number(x.toPrecision(digits)));
}
