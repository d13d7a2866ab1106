// Curves over time on a canvas: a cursor in step with the slider, a click goes to that time.

const MOST_CURVES = 6;

class Plot {
  constructor(curves, motion, seek, first, remove) {
    Object.assign(this, { curves, motion, seek, on: new Set() });
    this.box = make("div", { className: "plot" });
    const head = make("div", { className: "head" });
    this.select = make("select");
    this.select.setAttribute("aria-label", "Quantity");
    curves.forEach((group, k) => this.select.append(new Option(title(group), k)));
    this.select.addEventListener("change", () => this.choose(Number(this.select.value)));
    head.append(this.select, Object.assign(button("×", () => remove(this)), { title: "Remove this plot" }));
    this.canvas = make("canvas");
    this.legend = make("div", { className: "curves" });
    this.box.append(head, this.canvas, this.legend);
    const go = (event) => {
      if (event.type === "pointermove" && !(event.buttons & 1)) return;
      const { left, right } = this.frame, x = event.offsetX;
      seek(motion.start + motion.span * Math.min(1, Math.max(0, (x - left) / (right - left))));
    };
    this.canvas.addEventListener("pointerdown", go);
    this.canvas.addEventListener("pointermove", go);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.choose(first);
  }

  choose(k, focus = "") {
    this.group = this.curves[k];
    this.select.value = k;
    const { labels } = this.group, all = labels.map((_, i) => i), own = all.filter((i) => belongs(labels[i], focus));
    const wanted = own.length ? own : all, moving = wanted.filter((i) => this.changes(i));
    this.on = new Set((moving.length ? moving : wanted).slice(0, MOST_CURVES));
    this.list();
    this.draw();
  }

  changes(i) {
    for (let frame = 1; frame < this.motion.frames; frame++) if (this.value(i, frame) !== this.value(i, 0)) return true;
    return false;
  }

  // The curves of a body, if there are some.
  focus(name) {
    const { labels } = this.group, own = labels.some((label) => belongs(label, name));
    if (own && labels.length > MOST_CURVES) this.choose(this.curves.indexOf(this.group), name);
  }

  list() {
    this.legend.textContent = "";
    this.group.labels.forEach((label, i) => {
      const entry = make("span", { className: "curve" + (this.on.has(i) ? " on" : "") });
      entry.append(make("i"), label);
      if (this.on.has(i)) entry.firstChild.style.background = this.color(i);
      entry.addEventListener("click", () => { if (!this.on.delete(i)) this.on.add(i); this.list(); this.draw(); });
      this.legend.append(entry);
    });
  }

  color(i) { return CURVES[[...this.on].sort((a, b) => a - b).indexOf(i) % CURVES.length]; }

  // Poses are those of the picture; all else has values of its own.
  value(i, frame) {
    const { name, values } = this.group, { poses, origins, frames } = this.motion;
    if (values) return values.data[i * frames + frame];
    if (name === "attitude") return poses.data[(7 * (i >> 2) + 3 + i % 4) * frames + frame];
    return origins.data[i % 3 * frames + frame] + poses.data[(7 * Math.floor(i / 3) + i % 3) * frames + frame];
  }

  // The curves themselves, kept as a picture; the cursor is drawn over it.
  draw() {
    const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const c = this.canvas.getContext("2d", { willReadFrequently: true });
    c.scale(ratio, ratio);
    const range = this.range(), ticks = niceTicks(range[0], range[1], 5);
    c.font = "10.5px system-ui, sans-serif";
    const [offset, texts] = tickTexts(ticks), left = 14 + Math.max(...texts.map((text) => c.measureText(text).width));
    this.frame = { left, right: width - 8, top: 18, bottom: height - 20 };
    this.axes(c, range, ticks, texts, offset);
    for (const i of [...this.on].sort((a, b) => a - b)) this.line(c, i, range);
    this.picture = c.getImageData(0, 0, this.canvas.width, this.canvas.height);
    this.cursor(this.now ?? this.motion.start);
  }

  range() {
    let low = Infinity, high = -Infinity;
    for (const i of this.on) {
      for (let frame = 0; frame < this.motion.frames; frame++) {
        const y = this.value(i, frame);
        if (Number.isFinite(y)) { low = Math.min(low, y); high = Math.max(high, y); }
      }
    }
    if (low > high) return [0, 1];
    const room = high > low ? 0.06 * (high - low) : Math.abs(high) * 0.1 || 1;
    return [low - room, high + room];
  }

  axes(c, range, ticks, texts, offset) {
    const { left, right, top, bottom } = this.frame;
    c.strokeStyle = css("--line");
    c.fillStyle = css("--soft");
    c.lineWidth = 1;
    c.textAlign = "right";
    c.textBaseline = "middle";
    ticks.forEach((y, k) => {
      const at = bottom - (y - range[0]) / (range[1] - range[0]) * (bottom - top);
      c.beginPath(); c.moveTo(left, at); c.lineTo(right, at); c.stroke();
      c.fillText(texts[k], left - 5, at);
    });
    c.textAlign = "center";
    c.textBaseline = "top";
    const times = niceTicks(this.motion.start, this.motion.end, 5);
    const texted = (t, k) => brief(t) + (k === times.length - 1 ? " s" : "");
    times.forEach((t, k) => c.fillText(texted(t, k), Math.min(this.x(t), right - 10), bottom + 5));
    c.textAlign = "left";
    c.fillText([this.group.unit ? `[${this.group.unit}]` : "", offset].filter(Boolean).join("  "), left, 2);
  }

  x(t) { return this.frame.left + (t - this.motion.start) / (this.motion.span || 1) * (this.frame.right - this.frame.left); }

  line(c, i, range) {
    const { top, bottom } = this.frame;
    c.strokeStyle = this.color(i);
    c.lineWidth = 1.5;
    c.lineJoin = "round";
    c.beginPath();
    let pen = false;
    for (let frame = 0; frame < this.motion.frames; frame++) {
      const y = this.value(i, frame);
      if (!Number.isFinite(y)) { pen = false; continue; }
      const at = bottom - (y - range[0]) / (range[1] - range[0]) * (bottom - top);
      if (pen) c.lineTo(this.x(this.motion.time[frame]), at); else c.moveTo(this.x(this.motion.time[frame]), at);
      pen = true;
    }
    c.stroke();
  }

  cursor(t) {
    this.now = t;
    if (!this.picture) return;
    const c = this.canvas.getContext("2d"), { top, bottom } = this.frame, x = this.x(t);
    c.putImageData(this.picture, 0, 0);
    c.strokeStyle = css("--warm");
    c.lineWidth = 1;
    c.beginPath(); c.moveTo(x, top); c.lineTo(x, bottom); c.stroke();
  }
}

class Plots {
  constructor(box, curves, motion, seek) {
    Object.assign(this, { box, curves, motion, seek, plots: [] });
    find("add-plot").addEventListener("click", () => this.add(this.plots.length % curves.length));
    const wished = [["node_deflection"], ["q", "rad"], ["total_energy"], ["q", "m"], ["angular_momentum"], ["position"]];
    const found = wished.map(([name, unit]) => curves.findIndex((group) => group.name === name && (!unit || group.unit === unit)));
    for (const k of found.filter((each) => each >= 0).slice(0, 2)) this.add(k);
  }

  add(k) {
    const plot = new Plot(this.curves, this.motion, this.seek, k, (gone) => this.remove(gone));
    this.plots.push(plot);
    this.box.append(plot.box);
    plot.draw();
    return plot;
  }

  remove(gone) {
    gone.box.remove();
    this.plots = this.plots.filter((each) => each !== gone);
  }

  update(t) { for (const plot of this.plots) plot.cursor(t); }
  redraw() { for (const plot of this.plots) plot.draw(); }
  focus(name) { for (const plot of this.plots) plot.focus(name); }
}

const belongs = (label, name) => name !== "" && (label === name || label.startsWith(name + ".") || label.startsWith(name + " "));
const title = (group) => `${group.name.replaceAll("_", " ")}${group.unit ? ` [${group.unit}]` : ""}`;

function niceTicks(low, high, count) {
  const step = roundNumber((high - low) / count || 1), found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

// Texts of ticks; what they have in common, if they differ only slightly, is written once.
function tickTexts(ticks) {
  const size = Math.max(...ticks.map(Math.abs), 0), step = ticks.length > 1 ? ticks[1] - ticks[0] : size || 1;
  const base = size > 2e4 * step ? ticks[ticks.length >> 1] : 0;
  const power = Math.max(base ? 0 : size, step);
  const exponent = power >= 1e5 || power < 1e-2 ? Math.floor(Math.log10(power)) : 0, unit = 10 ** exponent;
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  const texts = ticks.map((tick) => ((tick - base) / unit).toFixed(Math.min(digits, 8)).replace(/^-(0\.?0*)$/, "$1"));
  return [[exponent ? `× 1e${exponent}` : "", base ? `+ ${brief(base, 8)}` : ""].filter(Boolean).join("  "), texts];
}
