// Small parts of the page.

const find = (id) => document.getElementById(id);
const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function button(text, act) {
  const made = make("button", { textContent: text });
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
