// The canvas: renderer, lights, ground or water, and what is drawn when.

class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.outputEncoding = THREE.sRGBEncoding;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(34, 1, 0.01, 1000);
    this.scene.add(this.camera, new THREE.HemisphereLight("#ffffff", "#7d7a76", 0.62));
    for (const [intensity, place] of [[0.62, [-0.6, 0.9, 0.7]], [0.18, [1, -0.3, 0.4]]]) {
      const light = new THREE.DirectionalLight("#ffffff", intensity);
      light.position.set(...place);                             // over the viewer's shoulder
      this.camera.add(light, light.target);
      light.target.position.set(0, 0, -1);
    }
    this.stale = true;
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.stale = true;
  }

  get size() { return [this.canvas.clientWidth, this.canvas.clientHeight]; }

  draw() {
    this.renderer.render(this.scene, this.camera);
    this.stale = false;
  }
}

// Lines of a plane that fade away from its middle; z is up. `cell` is their distance.
function gridPlane(cell, half, color) {
  const position = [], shade = [], tint = new THREE.Color(color), pieces = 24;
  const alpha = (x, y) => Math.max(0, 1 - Math.hypot(x, y) / half) ** 1.3;
  const add = (x, y, strong) => {
    position.push(x, y, 0);
    shade.push(tint.r, tint.g, tint.b, alpha(x, y) * (strong ? 0.75 : 0.34));
  };
  const count = Math.round(half / cell);
  for (let k = -count; k <= count; k++) {
    for (let p = 0; p < pieces; p++) {
      const a = -half + 2 * half * p / pieces, b = -half + 2 * half * (p + 1) / pieces, strong = k % 5 === 0;
      add(k * cell, a, strong); add(k * cell, b, strong); add(a, k * cell, strong); add(b, k * cell, strong);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(shade, 4));
  const material = new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false });
  return new THREE.LineSegments(geometry, material);
}

function waterSheet(radius) {
  const look = { color: MARKS.water, transparent: true, opacity: 0.16, side: THREE.DoubleSide, depthWrite: false };
  return new THREE.Mesh(new THREE.CircleGeometry(radius, 64), new THREE.MeshBasicMaterial(look));
}
