// The time: play, pause, speed, slider, events; `changed` hears of every new time.

const SPEEDS = [-4, -3, -2, -1, 0, 1, 2, 3].flatMap((power) => ["1", "2", "5"].map((digit) => Number(`${digit}e${power}`)));

class Transport {
  constructor(motion, events, changed) {
    Object.assign(this, { motion, changed, time: motion.start, playing: false, repeat: true });
    [this.button, this.slider, this.clock, this.speedBox, this.again] = ["play", "slider", "clock", "speed", "again"].map(find);
    Object.assign(this.slider, { min: motion.start, max: motion.end || 1, value: motion.start });
    this.speed = this.usual();
    for (const speed of SPEEDS) this.speedBox.append(new Option(`${brief(speed, 2)} ×`, speed));
    this.speedBox.value = this.speed;
    this.speedBox.addEventListener("change", () => { this.speed = Number(this.speedBox.value); });
    this.button.addEventListener("click", () => this.toggle());
    this.again.addEventListener("click", () => this.setRepeat(!this.repeat));
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value)));
    for (const event of events) this.mark(event, find("events"));
    this.digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(motion.span || 1))));
    this.show();
  }

  // A run takes some ten seconds to see; real time if that is near.
  usual() {
    const wanted = this.motion.span / 12;
    if (wanted > 0.15 && wanted < 3) return 1;
    return SPEEDS.reduce((best, speed) => Math.abs(Math.log(speed / wanted)) < Math.abs(Math.log(best / wanted)) ? speed : best, 1);
  }

  mark({ time, text }, box) {
    const tick = make("i", { title: text });
    tick.style.left = `${100 * (time - this.motion.start) / (this.motion.span || 1)}%`;
    tick.addEventListener("click", () => this.seek(time));
    box.append(tick);
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  play() {
    if (this.time >= this.motion.end) this.time = this.motion.start;
    this.playing = true;
    this.button.textContent = "❚❚";
  }

  pause() {
    this.playing = false;
    this.button.textContent = "▶";
  }

  setRepeat(on) {
    this.repeat = on;
    this.again.setAttribute("aria-pressed", on);
  }

  faster(steps) {
    const k = SPEEDS.indexOf(this.speed) + steps;
    if (k < 0 || k >= SPEEDS.length) return;
    this.speed = SPEEDS[k];
    this.speedBox.value = this.speed;
  }

  step(frames) {
    this.pause();
    const { i, f } = this.motion.at(this.time), from = frames < 0 && f > 0 ? i + 1 : f >= 1 ? i + 1 : i;
    this.seek(this.motion.time[Math.min(this.motion.frames - 1, Math.max(0, from + frames))]);
  }

  advance(seconds) {
    if (!this.playing) return;
    let t = this.time + seconds * this.speed;
    if (t >= this.motion.end) {
      if (this.repeat && this.motion.span > 0) t = this.motion.start + (t - this.motion.start) % this.motion.span;
      else { t = this.motion.end; this.pause(); }
    }
    this.seek(t);
  }

  seek(t) {
    this.time = Math.min(this.motion.end, Math.max(this.motion.start, t));
    this.slider.value = this.time;
    this.show();
    this.changed(this.time);
  }

  show() {
    this.clock.innerHTML = `<b>${this.time.toFixed(this.digits)}</b> / ${brief(this.motion.end)} s`;
  }
}
