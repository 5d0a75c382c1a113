// Runs an .onnx model in ONNX Runtime under Node, its operators as the file has them (no optimization); prints a hash of its
// outputs and the most bytes that its arena had given out at the end of an operator, without what it had before the first.
// With --write, writes the elements of output k, in the order of their names, into OUTPUTS.k.
// usage: node onnxruntime.mjs MODEL [--write OUTPUTS] [NAME=DIMENSION,... | NAME:VALUE]...      (where onnxruntime-node is installed)
import { createHash } from 'crypto';
import fs from 'fs';
import { createRequire } from 'module';
import os from 'os';
import path from 'path';

const ort = createRequire(path.resolve('x.js'))('onnxruntime-node');
const [model, ...given] = process.argv.slice(2);
const written = given[0] === '--write' ? given.splice(0, 2)[1] : undefined;
const shapes = new Map();
const values = new Map();
for (const text of given) {
  const [, name, mark, list] = /^(.*)([=:])([^=:]*)$/.exec(text);
  if (mark === '=') shapes.set(name, list.split(',').map(Number));
  else values.set(name, Number(list));
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'onnxruntime-'));
const session = await ort.InferenceSession.create(model, {
  graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, logSeverityLevel: 3, enableProfiling: true,
  profileFilePrefix: path.join(folder, 'profile'),
});
const makers = { float32: Float32Array, float64: Float64Array, int64: BigInt64Array, int32: Int32Array, uint8: Uint8Array };
const feeds = {};
session.inputMetadata.forEach((about, k) => {
  const shape = shapes.get(about.name) ?? about.shape;
  const data = new makers[about.type](shape.reduce((a, b) => a * b, 1));
  for (let i = 0; i < data.length; ++i) {
    const x = values.get(about.name) ?? (((i + k) * 2654435761) % 1000) / 250 - 2 + 2 * Math.sin(i / 37);
    data[i] = about.type === 'int64' ? BigInt(Math.trunc(x)) : x;
  }
  feeds[about.name] = new ort.Tensor(about.type, data, shape);
});
const outputs = await session.run(feeds);
session.endProfiling();
const hash = createHash('sha256');
[...session.outputNames].sort().forEach((name, k) => {
  const { data } = outputs[name];
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  hash.update(bytes);
  if (written !== undefined) fs.writeFileSync(`${written}.${k}`, bytes);
});
const events = fs.readdirSync(folder).flatMap((file) => JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')));
fs.rmSync(folder, { recursive: true });
const used = events
  .filter((event) => event.cat === 'Node' && event.name.endsWith('_kernel_time') && event.args.mem_bytes_requested_in_use)
  .map(({ args }) => [Number(args.mem_bytes_requested_in_use), Number(args.mem_requested_in_use_delta)]);
const before = used.length === 0 ? 0 : used[0][0] - used[0][1];
console.log(hash.digest('hex').slice(0, 16), Math.max(0, ...used.map(([bytes]) => bytes)) - before);
