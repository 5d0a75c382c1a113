// Runs a .tflite model with float32 or int32 inputs in LiteRT.js under Node; prints a hash of its outputs, in the order of their
// names, and the bytes of the WebAssembly heap.
// With INPUTS and OUTPUTS, writes the elements of all inputs into the one file, and those of output k into OUTPUTS.k.
// usage: node litert.mjs MODEL [INPUTS OUTPUTS]      (where @litertjs/core is installed)
import { createHash } from 'crypto';
import fs from 'fs';
import { pathToFileURL } from 'url';
import { makePage } from './page.mjs';

const page = makePage('@litertjs/core/wasm');
const litert = await import(pathToFileURL(page.require.resolve('@litertjs/core')).href).catch(() => import('@litertjs/core'));
await litert.loadLiteRt('http://localhost/');
const model = await litert.loadAndCompile(new Uint8Array(fs.readFileSync(process.argv[2])), { accelerator: 'wasm' });
const written = { inputs: [], outputs: [] };
const inputs = model.getInputDetails().map((about, k) => {
  const shape = [...about.shape];
  const Elements = { int32: Int32Array, uint8: Uint8Array, int8: Int8Array }[about.dtype] ?? Float32Array;
  const all = { uint8: 255, int8: 127 }[about.dtype] ?? 1;  // what stands for 1
  const data = new Elements(shape.reduce((a, b) => a * b, 1)).map((_, i) => (all * (((i + k) * 2654435761) % 1000)) / 1000);
  written.inputs.push(Buffer.from(data.buffer.slice(0)));
  return new litert.Tensor(data, shape);
});
const outputs = await model.run(inputs.length === 1 ? inputs[0] : inputs);
const hash = createHash('sha256');
const tensors = Array.isArray(outputs) ? outputs : Object.values(outputs);
const names = model.getOutputDetails().map(({ name }) => name);
const byName = [...tensors.keys()].sort((a, b) => (names[a] < names[b] ? -1 : 1));
for (const tensor of byName.map((k) => tensors[k])) {
  const data = await tensor.data();
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  written.outputs.push(Buffer.from(bytes));
  hash.update(bytes);
}
if (process.argv.length > 4) {
  fs.writeFileSync(process.argv[3], Buffer.concat(written.inputs));
  written.outputs.forEach((bytes, k) => fs.writeFileSync(`${process.argv[4]}.${k}`, bytes));
}
console.log(hash.digest('hex').slice(0, 16), page.heap());
process.exit(0);
