// Keys and buttons.

const KEYS = [
  ["space", "play, pause"], ["← →", "a frame back, on"], ["+ −", "faster, slower"], ["Home End", "start, end"],
  ["drag", "turn; with shift or the right button: move"], ["wheel", "nearer, farther"], ["click", "pick a body"],
  ["F", "fit into view"], ["C", "follow the picked body"], ["1 2 3", "look along x, y, z"], ["B P", "panels left, right"],
  ["D", "dark, light"], ["R", "repeat"], ["?", "these keys"],
];

function setTheme(name) { document.documentElement.dataset.theme = name; }

function actions({ world, eye, follow, transport, plots, pick }) {
  const { motion } = world;
  return {
    " ": () => transport.toggle(),
    ArrowLeft: () => transport.step(-1),
    ArrowRight: () => transport.step(1),
    "+": () => transport.faster(1),
    "-": () => transport.faster(-1),
    Home: () => transport.seek(motion.start),
    End: () => transport.seek(motion.end),
    f: () => follow.fit(),
    c: () => { if (world.picked >= 0) follow.choose(String(world.picked)); },
    1: () => eye.look(0, 0),
    2: () => eye.look(-Math.PI / 2, 0),
    3: () => eye.look(-Math.PI / 2, 1.55),
    r: () => transport.setRepeat(!transport.repeat),
    d: () => {
      setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
      plots.redraw();
    },
    b: () => find("app").classList.toggle("no-left"),
    p: () => find("app").classList.toggle("no-right"),
    "?": () => { find("keys").hidden = !find("keys").hidden; },
    Escape: () => { find("keys").hidden = true; pick(-1); },
  };
}

function listenForKeys(acts) {
  find("keys").innerHTML = `<table>${KEYS.map(([key, text]) => `<tr><td>${key}</td><td>${text}</td></tr>`).join("")}</table>`;
  window.addEventListener("keydown", (event) => {
    const { tagName, type } = event.target, writes = tagName === "SELECT" || (tagName === "INPUT" && type === "search");
    const act = acts[event.key] || acts[event.key.toLowerCase()];
    if (writes || !act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  const buttons = { fit: "f", theme: "d", help: "?", "toggle-left": "b", "toggle-right": "p" };
  for (const [id, key] of Object.entries(buttons)) find(id).addEventListener("click", acts[key]);
}
