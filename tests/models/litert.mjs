// Runs a .tflite model with float32 or integer inputs in LiteRT.js under Node; prints a hash of its outputs and the bytes of
// the WebAssembly heap. The page that it expects around it is imitated: files come from the package's folder.
// With INPUTS and OUTPUTS, writes the elements of all inputs into the one file, and those of output k into OUTPUTS.k.
// usage: node litert.mjs MODEL [INPUTS OUTPUTS]      (where @litertjs/core is installed)
import { createHash } from 'crypto';
import fs from 'fs';
import { createRequire } from 'module';
import path from 'path';
import { pathToFileURL } from 'url';
import vm from 'vm';

const require = createRequire(path.resolve('x.js'));
const folder = path.resolve('node_modules/@litertjs/core/wasm') + '/';
const local = (url) => folder + path.basename(String(url).split('?')[0]);
Object.assign(globalThis, { require, __dirname: folder, __filename: folder + 'x.js', self: globalThis });
globalThis.location = { href: 'http://localhost/x.js', origin: 'http://localhost', protocol: 'http:' };
globalThis.importScripts = (...urls) => {
  for (const url of urls) vm.runInThisContext(fs.readFileSync(local(url), 'utf8'), { filename: local(url) });
};
globalThis.fetch = async (url) => {
  const type = String(url).includes('.wasm') ? 'application/wasm' : 'text/javascript';
  return new Response(fs.readFileSync(local(url)), { headers: { 'content-type': type } });
};
const memories = [];
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...given) => {
  const made = await instantiate(...given);
  for (const x of Object.values((made.instance || made).exports)) if (x instanceof WebAssembly.Memory) memories.push(x);
  return made;
};
WebAssembly.instantiateStreaming = async (source, imports) =>
  WebAssembly.instantiate(await (await source).arrayBuffer(), imports);

const litert = await import(pathToFileURL(require.resolve('@litertjs/core')).href).catch(() => import('@litertjs/core'));
await litert.loadLiteRt('http://localhost/');
const model = await litert.loadAndCompile(new Uint8Array(fs.readFileSync(process.argv[2])), { accelerator: 'wasm' });
const written = { inputs: [], outputs: [] };
const inputs = model.getInputDetails().map((about, k) => {
  const shape = [...about.shape];
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1)).map((_, i) => (((i + k) * 2654435761) % 1000) / 1000);
  written.inputs.push(Buffer.from(data.buffer.slice(0)));
  return new litert.Tensor(data, shape);
});
const outputs = await model.run(inputs.length === 1 ? inputs[0] : inputs);
const hash = createHash('sha256');
for (const tensor of Array.isArray(outputs) ? outputs : Object.values(outputs)) {
  const data = await tensor.data();
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  written.outputs.push(Buffer.from(bytes));
  hash.update(bytes);
}
if (process.argv.length > 4) {
  fs.writeFileSync(process.argv[3], Buffer.concat(written.inputs));
  written.outputs.forEach((bytes, k) => fs.writeFileSync(`${process.argv[4]}.${k}`, bytes));
}
console.log(hash.digest('hex').slice(0, 16), Math.max(...memories.map((m) => m.buffer.byteLength)));
process.exit(0);
