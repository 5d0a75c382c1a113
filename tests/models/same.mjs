// How far the outputs of two models differ: "equal to the bit", or the largest difference relative to the largest element of each
// output. Exit status 1 where that is more than the limit.
// usage: node same.mjs LIMIT A B      (A.0, A.1, ... and B.0, B.1, ... are float32 elements of outputs, as litert.mjs writes
// them; bytes of any where LIMIT is 0)
import fs from 'fs';

const [limit, a, b] = process.argv.slice(2);
let largest = 0;
let bits = true;
let elements = 0;
let outputs = 0;
for (; [a, b].every((name) => fs.existsSync(`${name}.${outputs}`)); ++outputs) {
  const [x, y] = [a, b].map((name) => fs.readFileSync(`${name}.${outputs}`));
  bits &&= x.equals(y);
  const Elements = Number(limit) === 0 ? Uint8Array : Float32Array;
  const [p, q] = [x, y].map((z) => new Elements(z.buffer.slice(z.byteOffset, z.byteOffset + z.byteLength)));
  const scale = p.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  const difference = p.length === q.length ? p.reduce((most, v, i) => Math.max(most, Math.abs(v - q[i])), 0) : Infinity;
  if (difference > 0) largest = Math.max(largest, difference / scale);
  elements += p.length;
}
if (outputs === 0 || [a, b].some((name) => fs.existsSync(`${name}.${outputs}`))) largest = Infinity;
console.log(bits && largest === 0 ? 'equal to the bit' : largest.toExponential(1), elements, outputs);
process.exit(largest <= Number(limit) ? 0 : 1);
