// A click that does not drag picks the body under it, or none.

function listenForPicks(stage, world, pick) {
  let pressed = [0, 0];
  stage.canvas.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
  stage.canvas.addEventListener("pointerup", (event) => {
    const dragged = Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4;
    if (!dragged && event.button === 0) pick(bodyAt(stage, world, event.offsetX, event.offsetY));
  });
}

function bodyAt(stage, world, x, y) {
  const [width, height] = stage.size, ray = new THREE.Raycaster();
  ray.setFromCamera(new THREE.Vector2(2 * x / width - 1, 1 - 2 * y / height), stage.camera);
  const hit = ray.intersectObjects(world.meshes, true).find(({ object }) => object.isMesh && object.userData.body !== undefined);
  return hit ? hit.object.userData.body : -1;
}
