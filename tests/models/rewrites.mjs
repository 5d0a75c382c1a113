// Rewrites real models and runs what was written: figures beside expected ones, and outputs beside those of the models.
// usage: node rewrites.mjs PROGRAM SAMPLES TABLE      (in the folder of models.mjs, with its packages)
//
// 1. Twelve models in 16 blocks of rows a tensor (all tensors cut, one search), and as `memsched rewrite` finds within 40 s; peaks
//    expected must not be exceeded, and where marked as proven be met to the byte or be beaten with proof.
// 2. Files that `memsched rewrite -o` writes run in LiteRT.js or ONNX Runtime; outputs agree: to the bit for int8, within a tolerance for
//    float32. Memory as the runtime shows it, before and after.
// 3. A model of uint8, and models of int8, made from some of these, likewise; and C programs, whose outputs must be the executor's to the bit, and whose
//    arena must be the peak that was promised.
// TABLE gets all of it as Markdown.
import { execFileSync, spawnSync } from 'child_process';
import fs from 'fs';
import path from 'path';

const [program, samples, table] = process.argv.slice(2).map((p) => path.resolve(p));
const here = path.dirname(new URL(import.meta.url).pathname);
const only = process.argv[5];  // names that contain this
let failures = 0;
const fail = (text) => {
  console.error(`FAILED: ${text}`);
  ++failures;
};
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
const gap = ({ peak, lower_bound }) => `${((100 * (peak - lower_bound)) / peak).toFixed(1)} %`;
const cells = (list) => `| ${list.join(' | ')} |`;

const files = fs.readdirSync('packages', { recursive: true }).map((f) => path.resolve('packages', f));
const find = (name) => files.find((f) => path.basename(f) === name);
function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, timeout: 600000 });
  const said = stderr.trim().split('\n').at(-1);
  return { status, stdout, said };
}
function must(command, ...args) {
  const { status, stdout, said } = run(command, args);
  if (status !== 0) throw new Error(`${path.basename(command)} ${args.join(' ')}: ${said}`);
  return stdout;
}
// A model file that would need no less memory than the given one is not written: exit status 3, as for a budget.
const rewrite = (model, ...args) => {
  const { status, stdout, said } = run(program, ['rewrite', model, '--verify', '0', '--format', 'json', ...args]);
  if (status !== 0 && status !== 3) throw new Error(`rewrite ${model} ${args.join(' ')}: ${said}`);
  return JSON.parse(stdout);
};
// The peak of a written file in its own order.
const peakOf = (model, ...args) =>
  JSON.parse(must(program, 'schedule', model, '--scheduler', 'file', '--format', 'json', ...args)).peak;

// Expected peaks: after folding pads and gathering concatenations, in 16 blocks, in single rows; and whether that of the blocks is proven.
const expected = [
  ['face_detection_short_range.tflite', 1245184, 339968, true, 236032, []],
  ['face_landmark.tflite', 1769472, 589824, true, 474624, []],
  ['hand_landmark_lite.tflite', 4214784, 1311744, true, 829696, []],
  ['hand_landmark_full.tflite', 4014080, 1261568, true, 1137920, []],
  ['palm_detection_full.tflite', 3538944, 1253376, true, 853248, []],
  ['face_detection_full_range.tflite', 2654208, 884736, true, 761856, []],
  ['pose_landmark_lite.tflite', 6816996, 1967332, true, 1660416, []],
  ['pose_detection.tflite', 4014080, 1098496, true, 1222144, []],
  ['pose_landmark_heavy.tflite', 8388608, 4199424, false, 3753472, []],
  ['selfie_segmentation.tflite', 3145792, 2162752, true, 2105408, []],
  ['ch_PP-OCRv4_det_infer.onnx', 26214400, 13094784, true, 13202592, ['x=1,3,640,640']],
  ['ch_ppocr_mobile_v2.0_cls_infer.onnx', 552960, 552960, true, 552960, ['x=1,3,48,320']],
];
const shaped = (dims) => dims.flatMap((d) => ['--shape', d]);
const wanted = (name) => only === undefined || name.includes(only);

const lines = [
  '# Real models, rewritten',
  '',
  'Made by `./dev test models`. All peaks are bytes, of tensors as `memsched schedule` counts them; "p" marks a peak that equals its',
  'lower bound. The command fails where a peak is above the expected one, where',
  'outputs differ by more than is said here, or where a C program does not give the executor\'s bits in an arena of the promised size.',
  '',
  '## Row blocks',
  '',
  '"16 blocks": every tensor in 16 blocks of rows, scheduled once, within 20 s.',
  '"Found": the smallest peak that `memsched rewrite --reals --time-limit 40` finds, with blocks down to single rows or with at most 48',
  'a tensor, which leave more time. Bound: of every order of the network that was found; another way to cut may need less. Gap: how',
  'far the bound lies below, of the peak. No multiply-accumulate is done twice.',
  '',
  cells(['model', 'given', 'folded', '16 blocks: expected', 'peak', 'operators', 's', 'single rows: expected', 'found', 'bound', 'gap', 'operators', 's', 'MACs']),
  cells(['---', ...Array(13).fill('---:')]),
];
for (const [name, identity, blocks16, proved, single, dims] of expected.filter(([name]) => wanted(name))) {
  try {
    const model = find(name);
    const some = JSON.parse(must(samples, 'rows', model, '16', '20', ...dims));
    const tried = [[], ['--blocks', '48']].map((more) => rewrite(model, '--reals', '--time-limit', '40', ...more, ...shaped(dims)));
    const best = tried[1].peak < tried[0].peak ? tried[1] : tried[0];
    const optimal = some.peak === some.lower_bound;
    if (some.identity !== identity) fail(`${name}: folded, ${some.identity} and not ${identity}`);
    if (proved ? some.peak !== blocks16 && !(optimal && some.peak < blocks16) : some.peak > blocks16)
      fail(`${name}: 16 blocks, ${some.peak} and not ${blocks16}`);
    if (!some.provenance) fail(`${name}: 16 blocks: wrong by provenance`);
    if (best.peak > single) fail(`${name}: single rows, ${best.peak} and not ${single}`);
    const p = (peak, bound) => grouped(peak) + (peak === bound ? ' p' : '');
    const macs = best.macs === best.macs_before && some.macs === some.macs_before ? '+0 %' : `${best.macs_before} -> ${best.macs}`;
    lines.push(cells([name, grouped(best.peak_before), grouped(some.identity), grouped(blocks16) + (proved ? ' p' : ''),
                      p(some.peak, some.lower_bound), grouped(some.operators), some.seconds.toFixed(1), grouped(single),
                      p(best.peak, best.lower_bound), grouped(best.lower_bound), gap(best), grouped(best.operators), best.seconds.toFixed(1), macs]));
    console.log(lines.at(-1));
  } catch (error) {
    fail(`${name}: ${error.message}`);
  }
}

if (wanted('face_detection_short_range.tflite')) {
  const pictures = only === undefined ? table.replace(/\.md$/, '') : 'picture';
  rewrite(find('face_detection_short_range.tflite'), '--blocks', '16', '--svg', pictures + '-memory.svg', '--front-svg',
          pictures + '-front.svg');
  const name = path.basename(pictures);
  lines.push('', 'face_detection_short_range in 16 blocks: memory over time before and after, and what fewer operators cost.', '',
             `![memory over time](${name}-memory.svg)`, '', `![peak and operators](${name}-front.svg)`);
}

// Outputs and memory of a model in its runtime; outputs are kept in files.
function inRuntime(model, dims, outputs) {
  for (const f of fs.readdirSync('.')) if (f.startsWith(outputs + '.')) fs.rmSync(f);
  const script = path.extname(model) === '.tflite' ? 'litert.mjs' : 'onnxruntime.mjs';
  const args = script === 'litert.mjs' ? ['inputs', outputs] : ['--write', outputs, ...dims];
  const last = must('node', path.join(here, script), model, ...args).trim().split('\n').at(-1);
  return Number(last.split(' ')[1]);
}
function difference(limit) {
  const { status, stdout, said } = run('node', [path.join(here, 'same.mjs'), String(limit), 'before', 'after']);
  const [how, elements] = /^(.*) (\d+) \d+$/.exec(stdout.trim())?.slice(1) ?? [said, 0];
  return { good: status === 0, how, elements: Number(elements) };
}

const tolerance = 1e-3;
const header = [
  cells(['model', 'blocks', 'operators', 'given', 'peak', 'written', 'bytes of file', 'written', 'memory', 'rewritten', 'difference']),
  cells(['---', ...Array(10).fill('---:')]),
];
lines.push(
  '',
  '## In runtimes',
  '',
  'The rewritten network as a file of standard operators, run beside the model it comes from on the same inputs: the largest difference',
  `of an output, relative to its largest element (limit ${tolerance} for float32; int8 must be equal to the bit). "Peak" is that of the`,
  'network with row blocks as kernels could read them; "written" that of the file, where blocks are slices and concatenations that copy:',
  'the search judges by that, and writes no file that needs as much as the model. Blocks are found with `--runtime parts`.',
  'Memory is the WebAssembly heap of LiteRT.js (from 17,629,184, in steps; XNNPACK keeps packed weights for each convolution, so also',
  'for each block) or the arena of ONNX Runtime. "Whole, +5 %": `--runtime whole --max-extra-macs 5%`, few stripes with overlaps.',
  '',
  ...header);
// `how`: what the table calls it, and flags.
const inBlocks = (n) => [String(n), '--runtime', 'parts', '--blocks', String(n)];
const forWhole = ['whole, +5 %', '--runtime', 'whole', '--max-extra-macs', '5%'];
function compare(model, name, dims, [how, ...flags], limit) {
  const out = 'rewritten' + path.extname(model);
  const made = rewrite(model, ...flags, '--time-limit', '20', ...shaped(dims), '-o', out);
  const peaks = [grouped(made.operators), grouped(made.peak_before), grouped(made.network_peak), grouped(made.peak)];
  if (!made.written) {
    lines.push(cells([name, how, ...peaks, grouped(fs.statSync(model).size), 'not written', '', '', '']));
    return console.log(lines.at(-1));
  }
  if (peakOf(out) !== made.peak) fail(`${name}, ${how}: the file needs ${peakOf(out)}, and not ${made.peak}`);
  const before = inRuntime(model, dims, 'before'), after = inRuntime(out, dims, 'after');
  const d = difference(limit);
  if (!d.good) fail(`${name}, ${how}: outputs differ: ${d.how}`);
  lines.push(cells([name, how, ...peaks, grouped(fs.statSync(model).size), grouped(fs.statSync(out).size), grouped(before), grouped(after), d.how]));
  console.log(lines.at(-1));
}
const others = [['palm_detection_lite.tflite', []], ['pose_landmark_full.tflite', []],
                ['object_detection_ssd_mobilenetv2_oidv4_fp16.tflite', []], ['fr_liveness.onnx', []], ['fr_feature.onnx', []]];
const compared = [...expected.map((t) => [t[0], t[5]]), ...others].filter(([name]) => wanted(name));
for (const [name, dims] of compared)
  for (const how of [inBlocks(1), inBlocks(4), forWhole]) {
    try {
      compare(find(name), name, dims, how, tolerance);
    } catch (error) {
      fail(`${name}, ${how[0]}: ${error.message}`);
    }
  }

lines.push(
  '',
  '### Operators that the library does not know',
  '',
  'They are copied from the model into the rewritten file, with whole tensors before and after them.',
  '',
  ...header);
const copied = ['FaceAntiSpoofing.tflite', 'pnet.tflite', 'rnet.tflite', 'onet.tflite', 'selfie_multiclass_256x256.tflite',
                'hey_lookdeep.onnx', 'fr_pose.onnx'];
for (const name of copied.filter(wanted)) {
  try {
    compare(find(name), name, [], inBlocks(4), tolerance);
  } catch (error) {
    fail(`${name}: ${error.message}`);
  }
}

lines.push(
  '',
  '### Eight bits',
  '',
  'mobilenet_ssd_v2_coco_quant_postprocess is a model of uint8 as it was published, without its last operator, a custom one that',
  'LiteRT.js lacks. No .tflite model of the list is of int8: the others are made from the packages\' float32 models, with their',
  'layers and weights, as `samples quantize` of the tests does: int8 by tensor, weights by channel, sums of 32 bits, inputs and outputs',
  'float32; ranges from random inputs, so nothing is said of accuracy.',
  '',
  ...header);
const ssd = 'mobilenet_ssd_v2_coco_quant_postprocess';
if (wanted(ssd))
  for (const how of [inBlocks(16), forWhole]) {
    try {
      must(samples, 'head', find(ssd + '.tflite'), 'head.tflite');
      compare(path.resolve('head.tflite'), ssd, [], how, 0);
    } catch (error) {
      fail(`${ssd}, ${how[0]}: ${error.message}`);
    }
  }
const quantized = ['face_detection_short_range', 'face_landmark', 'palm_detection_full', 'face_detection_full_range', 'pose_detection'];
for (const name of quantized.filter(wanted)) {
  try {
    must(samples, 'quantize', find(name + '.tflite'), 'int8.tflite', 'float');
    for (const how of [inBlocks(1), inBlocks(4), inBlocks(16), forWhole])
      compare(path.resolve('int8.tflite'), name, [], how, 0);
  } catch (error) {
    fail(`${name} of int8: ${error.message}`);
  }
}

lines.push(
  '',
  '## C programs',
  '',
  '`memsched rewrite MODEL --emit-c`, compiled with `cc -std=c11 -O1 -Wall -Wextra -Werror -fsanitize=address,undefined` and run: outputs',
  'are the executor\'s for the model as it was given, to the bit. The arena is the peak that was promised where offsets reach it, and',
  'at most 5 % more (limit) where they do not. Text and data are those of the program without sanitizers, `-Os`. The model of uint8 is',
  'without its last operator, as above.',
  '',
  cells(['model', 'type', 'blocks', 'operators', 'given', 'promised', 'arena', 'weights and text', 'outputs']),
  cells(['---', '---', ...Array(7).fill('---:')]));
// The last member: whether offsets may miss the peak.
const programs = [['face_detection_short_range', 'float32', 8], ['face_detection_short_range', 'float32', 16, 'loose'],
                  ['hand_landmark_lite', 'float32', 8], ['pose_landmark_lite', 'float32', 8], ['pose_detection', 'float32', 4],
                  ['face_detection_short_range', 'int8', 8], ['face_landmark', 'int8', 4], ['palm_detection_full', 'int8', 4],
                  ['hand_landmark_lite', 'int8', 8], [ssd, 'uint8', 4]];
for (const [name, type, blocks, loose] of programs.filter(([name]) => wanted(name))) {
  try {
    let model = find(name + '.tflite');
    if (type === 'int8') {
      must(samples, 'quantize', model, 'int8.tflite', 'int8');
      model = path.resolve('int8.tflite');
    } else if (type === 'uint8') {
      must(samples, 'head', model, 'head.tflite');
      model = path.resolve('head.tflite');
    }
    must(samples, 'execute', model, 'inputs', 'expected');
    fs.rmSync('program', {recursive: true, force: true});
    const made = rewrite(model, '--blocks', String(blocks), '--time-limit', '30', '--emit-c', 'program');
    const name_of = path.basename(fs.readdirSync('program').find((f) => f.endsWith('.h')), '.h');
    const sources = ['.c', '_main.c'].map((end) => `program/${name_of}${end}`);
    const arena = Number(/_ARENA_BYTES (\d+)/.exec(fs.readFileSync(`program/${name_of}.h`, 'utf8'))[1]);
    const strict = ['-std=c11', '-Wall', '-Wextra', '-Werror'];
    must('cc', ...strict, '-O1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-o', 'computed', ...sources, '-lm');
    must('./computed', 'inputs', 'results');
    must('cc', ...strict, '-Os', '-c', '-o', 'network.o', sources[0]);
    const [text, data] = must('size', 'network.o').trim().split('\n').at(-1).trim().split(/\s+/).map(Number);
    const equal = fs.readFileSync('results').equals(fs.readFileSync('expected'));
    if (!equal) fail(`${name} of ${type}: the C program computes something else`);
    const most = loose ? 1.05 * made.peak : Math.ceil(made.peak / 4) * 4;
    if (arena < made.peak || arena > most)
      fail(`${name} of ${type}: an arena of ${arena}, promised ${made.peak}`);
    lines.push(cells([name, type, blocks, grouped(made.operators), grouped(made.peak_before), grouped(made.peak), grouped(arena),
                      grouped(text + data), equal ? 'equal to the bit' : 'DIFFERENT']));
    console.log(lines.at(-1));
  } catch (error) {
    fail(`${name} of ${type}, as a C program: ${error.message}`);
  }
}
lines.push('');
if (only === undefined) fs.writeFileSync(table, lines.join('\n'));
process.exit(failures === 0 ? 0 : 1);
