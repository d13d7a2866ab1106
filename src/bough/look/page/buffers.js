// Arrays out of the page: base64, deflate, planes of bytes, differences of bit patterns along columns.
// A series of (rows, columns) is kept column by column: entry (r, c) is data[c*rows + r].

const KINDS = {                                                 // what an array holds, and the type of its bit patterns
  float: [Float32Array, Uint32Array], index: [Uint32Array, Uint32Array],
  double: [Float64Array, BigUint64Array], fine: [Uint16Array, Uint16Array],
};

async function unpack(spec) {
  const element = document.getElementById("buffer" + spec.buffer);
  const bytes = await inflate(decode(element.textContent));
  element.textContent = "";                                     // the text is not needed any more
  const [Kind, Bits] = KINDS[spec.kind];
  const size = Kind.BYTES_PER_ELEMENT, count = bytes.length / size;
  const joined = new Uint8Array(bytes.length);
  for (let k = 0; k < size; k++) for (let i = 0; i < count; i++) joined[i * size + k] = bytes[k * count + i];
  const bits = new Bits(joined.buffer);
  const rows = spec.shape[0], columns = rows ? count / rows : 0;
  for (let c = 0; c < columns; c++) for (let r = 1; r < rows; r++) bits[c * rows + r] += bits[c * rows + r - 1];
  const data = new Kind(joined.buffer);
  return { data: spec.kind === "fine" ? restored(data, rows, spec) : data, rows, columns };
}

// Values of series to 16 bits.
function restored(numbers, rows, { low, step }) {
  const out = new Float64Array(numbers.length);
  for (let k = 0; k < out.length; k++) {
    const column = Math.floor(k / rows);
    out[k] = numbers[k] === 65535 ? NaN : low[column] + step[column] * numbers[k];
  }
  return out;
}

function decode(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Row by row: entry (r, c) at r*columns + c.
function byRows(series) {
  const { data, rows, columns } = series, out = new data.constructor(data.length);
  for (let c = 0; c < columns; c++) for (let r = 0; r < rows; r++) out[r * columns + c] = data[c * rows + r];
  return out;
}

// All buffers that a piece of the scene refers to, in place of their descriptions.
async function unpackAll(piece) {
  for (const [key, value] of Object.entries(piece)) {
    if (value === null || typeof value !== "object") continue;
    if (value.buffer !== undefined) piece[key] = await unpack(value);
    else await unpackAll(value);
  }
}
