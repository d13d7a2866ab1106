// Rigid bodies: all parts of one body that one can see through alike are one mesh, their sharp edges are lines.

const EDGES = new THREE.LineBasicMaterial({ color: "#10141a", transparent: true, opacity: 0.34 });
const BRIGHT = new THREE.LineBasicMaterial({ color: MARKS.picked });

function bodyMesh(body, number, color, edged) {
  const group = new THREE.Group();
  for (const opacity of new Set(body.parts.map((part) => part.opacity ?? 1))) {
    const pieces = body.parts.filter((part) => (part.opacity ?? 1) === opacity).map((part) => {
      const own = part.color ? new THREE.Color(part.color) : color.clone();
      return { geometry: partGeometry(part), color: part.role === "rod" ? own.offsetHSL(0, 0, -0.09) : own };
    });
    const geometry = merged(pieces);
    const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.62, metalness: 0.08 }));
    mesh.userData = { body: number, opacity };
    seeThrough(mesh, opacity);
    group.add(mesh);
    if (edged) group.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 35), EDGES));
  }
  return group;
}

function seeThrough(mesh, opacity) {
  Object.assign(mesh.material, { transparent: opacity < 1, opacity, depthWrite: opacity === 1 });
  mesh.material.needsUpdate = true;
}

// A body that is picked glows, and its edges are bright; colors that mean something stay as they are.
function highlight(object, on) {
  object.traverse((each) => {
    if (each.isMesh && each.material.emissive) each.material.emissive.set(on && !each.userData.measured ? "#1c3d57" : "#000000");
    if (each.isLineSegments) each.material = on ? BRIGHT : EDGES;
  });
}
