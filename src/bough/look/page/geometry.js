// Triangles: parts of a body as one geometry, sharp where faces meet at an angle.

const CREASE = Math.cos(35 * Math.PI / 180);

// A part in the frame of its body.
function partGeometry(part) {
  if (part.kind === "mesh") return creased(byRows(part.vertices), byRows(part.faces));
  const solids = {
    box: () => new THREE.BoxGeometry(...part.size),
    ball: () => new THREE.SphereGeometry(part.radius, 32, 20),
    frustum: () => new THREE.CylinderGeometry(part.above, part.below, part.height, 40).rotateX(Math.PI / 2),
  };
  return solids[part.kind]().toNonIndexed().applyQuaternion(new THREE.Quaternion(...part.turn)).translate(...part.at);
}

// Given triangles without shared corners; the normals of faces around a corner are averaged if they differ by less than the crease.
function creased(vertices, faces) {
  const corners = faces.length, position = new Float32Array(3 * corners), normals = new Float32Array(3 * corners);
  const around = new Map(), a = new THREE.Vector3(), b = new THREE.Vector3(), c = new THREE.Vector3(), flat = [], area = [];
  for (let k = 0; k < corners; k++) for (let i = 0; i < 3; i++) position[3 * k + i] = vertices[3 * faces[k] + i];
  for (let f = 0; f < corners / 3; f++) {
    a.fromArray(position, 9 * f); b.fromArray(position, 9 * f + 3).sub(a); c.fromArray(position, 9 * f + 6).sub(a);
    const normal = b.cross(c).clone();
    area.push(normal.clone());
    flat.push(normal.normalize());
    for (let i = 0; i < 3; i++) {
      const key = [0, 1, 2].map((n) => Math.fround(position[9 * f + 3 * i + n])).join();
      if (!around.has(key)) around.set(key, []);
      around.get(key).push(f);
    }
  }
  for (let k = 0; k < corners; k++) {
    const own = flat[Math.floor(k / 3)], sum = new THREE.Vector3();
    const key = [0, 1, 2].map((n) => Math.fround(position[3 * k + n])).join();
    for (const f of around.get(key)) if (flat[f].dot(own) > CREASE) sum.add(area[f]);
    sum.normalize().toArray(normals, 3 * k);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  return geometry;
}

// One geometry of many, each with its color.
function merged(pieces) {
  const count = pieces.reduce((sum, { geometry }) => sum + geometry.attributes.position.count, 0);
  const arrays = { position: new Float32Array(3 * count), normal: new Float32Array(3 * count), color: new Float32Array(3 * count) };
  let at = 0;
  for (const { geometry, color } of pieces) {
    arrays.position.set(geometry.attributes.position.array, 3 * at);
    arrays.normal.set(geometry.attributes.normal.array, 3 * at);
    for (let k = 0; k < geometry.attributes.position.count; k++) color.toArray(arrays.color, 3 * (at + k));
    at += geometry.attributes.position.count;
  }
  const whole = new THREE.BufferGeometry();
  for (const [name, array] of Object.entries(arrays)) whole.setAttribute(name, new THREE.BufferAttribute(array, 3));
  return whole;
}

// An arrow of length 1 along z, with one head or two.
function arrowGeometry(heads, radius = 0.022, head = 0.22) {
  const white = new THREE.Color(1, 1, 1);
  const shaft = new THREE.CylinderGeometry(radius, radius, 1 - head, 14).rotateX(Math.PI / 2).translate(0, 0, (1 - head) / 2);
  const cone = () => new THREE.ConeGeometry(3 * radius, head, 20).rotateX(Math.PI / 2);
  const pieces = [shaft, cone().translate(0, 0, 1 - head / 2)];
  if (heads > 1) pieces.push(cone().translate(0, 0, 1 - 1.25 * head));
  return merged(pieces.map((geometry) => ({ geometry: geometry.toNonIndexed(), color: white })));
}

// 1, 2 or 5 times a power of ten, next to a number.
function roundNumber(x) {
  const power = 10 ** Math.floor(Math.log10(x)), digits = x / power;
  return power * (digits < 1.5 ? 1 : digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10);
}

const Z = new THREE.Vector3(0, 0, 1);
const alongZ = (axis) => new THREE.Quaternion().setFromUnitVectors(Z, new THREE.Vector3(...axis).normalize());
