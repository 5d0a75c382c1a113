// Whether two ONNX models of one input compute the same in onnxruntime, but for rounding: prints how far their outputs differ,
// relative to the largest element. Exit status 1 where that is more than the limit.
// usage: node ort.mjs MODEL MODEL LIMIT DIMENSION...      (where onnxruntime-node is installed)
import { createRequire } from 'module';
import path from 'path';

const ort = createRequire(path.resolve('x.js'))('onnxruntime-node');
const [first, second, limit, ...dimensions] = process.argv.slice(2);
const shape = dimensions.map(Number);
const data = new Float32Array(shape.reduce((a, b) => a * b, 1)).map(
  (_, i) => ((i * 2654435761) % 1000) / 250 - 2 + 2 * Math.sin(i / 37));
const run = async (model) => {
  const session = await ort.InferenceSession.create(model, { graphOptimizationLevel: 'disabled' });
  const outputs = await session.run({ [session.inputNames[0]]: new ort.Tensor('float32', data, shape) });
  return session.outputNames.flatMap((name) => [...outputs[name].data]);
};
const a = await run(first);
const b = await run(second);
const largest = a.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
const difference = a.length === b.length ? a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0) : Infinity;
console.log(`${a.length} elements, difference ${(difference / largest).toExponential(1)} of the largest`);
process.exit(difference / largest <= Number(limit) ? 0 : 1);
