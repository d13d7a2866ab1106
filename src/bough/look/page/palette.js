// Colors: calm ones for limbs, one of each kind for what is drawn upon them; values on a scale from dark to bright.

THREE.ColorManagement.legacyMode = false;                       // colors are given as screens show them
const LIMBS = ["#8595aa", "#4f9fa6", "#d3a24e", "#b9705c", "#7f86c4", "#7ba566", "#c58aa8", "#5c93c9", "#a99472", "#69a890"];
const CURVES = ["#5aa5e0", "#e58a4a", "#5bb579", "#b07cc9", "#d6b13f", "#4cbcc4", "#dd6a86", "#9aa5b1"];
const MARKS = {
  joint: "#39434f", axis: "#e9b44c", loop: "#d9577a", line: "#9fb0c3", wheel: "#c9cfd8", force: "#ee6c4d", moment: "#9b7fe0",
  x: "#e0565b", y: "#5fae57", z: "#4f8ae0", picked: "#ffd27a", water: "#3d8fc2", grid: "#76828f",
};
const SCALE = [[0.0, "#31356e"], [0.25, "#2f7f9e"], [0.5, "#4fb38a"], [0.75, "#c6cf5a"], [1.0, "#fde58a"]]
  .map(([at, color]) => [at, new THREE.Color(color)]);

// The color of a body: that of its limb, neighbors in turn a little darker and lighter.
function bodyColor(body, depth) {
  const color = new THREE.Color(LIMBS[body.limb % LIMBS.length]);
  return color.offsetHSL(0, 0, [0, -0.055, 0.05][depth % 3]);
}

function scaleColor(x, out) {
  const v = Math.min(1, Math.max(0, x));
  let k = 1;
  while (k < SCALE.length - 1 && v > SCALE[k][0]) k++;
  const [a, from] = SCALE[k - 1], [b, to] = SCALE[k];
  return out.copy(from).lerp(to, (v - a) / (b - a));
}
