// A page for WebAssembly runtimes, imitated under Node: scripts and modules come from a folder, and memories are remembered.
import fs from 'fs';
import { createRequire } from 'module';
import path from 'path';
import vm from 'vm';

// Makes the globals that the loaders in `folder` of node_modules ask for. Returns what finds packages, and what tells the
// bytes of the largest WebAssembly memory so far.
export function makePage(folder) {
  const require = createRequire(path.resolve('x.js'));
  const base = path.resolve('node_modules', folder) + '/';
  const local = (url) => base + path.basename(String(url).split('?')[0]);
  Object.assign(globalThis, { require, __dirname: base, __filename: base + 'x.js', self: globalThis });
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
  return { require, heap: () => Math.max(...memories.map((m) => m.buffer.byteLength)) };
}
