// Names beside the bodies: of the one that is picked, or of all.

class Labels {
  constructor(box, stage) { Object.assign(this, { box, stage, made: new Map() }); }

  show(wanted, picked) {                                        // [[name, place on the stage], ...]
    const [width, height] = this.stage.size, used = new Set(), v = new THREE.Vector3();
    for (const [name, place] of wanted) {
      v.copy(place).project(this.stage.camera);
      if (v.z > 1 || Math.abs(v.x) > 1.05 || Math.abs(v.y) > 1.05) continue;
      used.add(name);
      if (!this.made.has(name)) {
        const label = make("div", { className: "label", textContent: name });
        this.box.append(label);
        this.made.set(name, label);
      }
      const label = this.made.get(name);
      label.classList.toggle("picked", name === picked);
      const [x, y] = [(v.x + 1) / 2 * width + 10, (1 - v.y) / 2 * height - 26];
      label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
    for (const [name, label] of this.made) if (!used.has(name)) { label.remove(); this.made.delete(name); }
  }
}
