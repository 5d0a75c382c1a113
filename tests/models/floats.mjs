// Whether a file of float32 elements is the others, one after the other in any order, but for rounding: prints how far the
// best order differs, relative to the largest element. Exit status 1 if that is more than the limit.
// usage: node floats.mjs LIMIT FILE PART...
import fs from 'fs';

const read = (file) => {
  const bytes = fs.readFileSync(file);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
};
const [limit, file, ...names] = process.argv.slice(2);
const whole = read(file);
const parts = names.map(read);
const largest = whole.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
const distance = (part, at) => part.reduce((most, x, i) => Math.max(most, Math.abs(x - whole[at + i])), 0);
const best = (at, left) => {
  if (left.length === 0) return at === whole.length ? 0 : Infinity;
  return Math.min(
    ...left.map((part, k) => {
      const own = at + part.length <= whole.length ? distance(part, at) / largest : Infinity;
      return own > limit ? own : Math.max(own, best(at + part.length, left.filter((_, i) => i !== k)));
    }));
};
const difference = best(0, parts);
console.log(`${whole.length} elements in ${parts.length} outputs, difference ${difference.toExponential(1)} of the largest`);
process.exit(difference <= Number(limit) ? 0 : 1);
