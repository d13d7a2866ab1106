// Rigid bodies: all parts of one body are one mesh, its sharp edges are lines.

const EDGES = new THREE.LineBasicMaterial({ color: "#10141a", transparent: true, opacity: 0.34 });
const BRIGHT = new THREE.LineBasicMaterial({ color: MARKS.picked });

function bodyMesh(body, number, colour, edged) {
  const group = new THREE.Group();
  if (!body.parts.length) return group;
  const pieces = body.parts.map((part) => {
    const geometry = partGeometry(part);
    if (part.turn) geometry.applyQuaternion(new THREE.Quaternion(...part.turn)).translate(...part.at);
    const own = part.colour ? new THREE.Color(part.colour) : colour.clone();
    return { geometry, colour: part.role === "rod" ? own.offsetHSL(0, 0, -0.09) : own };
  });
  const geometry = merged(pieces);
  const material = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.62, metalness: 0.08 });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.userData.body = number;
  group.add(mesh);
  if (edged) group.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 35), EDGES));
  return group;
}

// A body that is picked glows, and its edges are bright; colours that mean something stay as they are.
function highlight(object, on) {
  object.traverse((each) => {
    if (each.isMesh && each.material.emissive) each.material.emissive.set(on && !each.userData.measured ? "#1c3d57" : "#000000");
    if (each.isLineSegments) each.material = on ? BRIGHT : EDGES;
  });
}
