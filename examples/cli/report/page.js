"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const colours = 10, WORKSPACE = -1, REST = -2;

  // Pieces of the page.
  const append = (node, children) => {
    for (const c of children.flat()) if (c !== null && c !== undefined) node.append(c);
    return node;
  };
  const make = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return append(node, children);
  };
  const draw = (name, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return append(node, children);
  };
  const section = (id) => document.getElementById(id);
  const paragraph = (...children) => make("p", {}, ...children);
  const strong = (text) => make("strong", {}, text);

  // Numbers.
  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const unit_of = (n) => {
    let u = 0;
    while (n >= 1024 && u + 1 < units.length) n /= 1024, ++u;
    return u;
  };
  const scaled = (n) => {
    const u = unit_of(n), value = n / 1024 ** u;
    return (u === 0 ? String(n) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)) + " " + units[u];
  };
  /** 2359296 -> "2,359,296 bytes (2.25 MiB)" */
  const in_words = (n) => `${grouped(n)} bytes` + (n < 1024 ? "" : ` (${scaled(n)})`);
  const percent = (part, whole) => (whole === 0 ? 0 : 100 * part / whole).toFixed(1) + " %";
  /** A number of the result, findable by its name. */
  const figure = (name, n) => make("span", {"data-figure": name, "data-value": n}, grouped(n));
  /** About five round ticks from 0 to `highest`: 1, 2 or 5 times a power of ten of a unit apart. */
  const ticks_to = (highest) => {
    const size = 1024 ** unit_of(highest), rough = highest / size / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    let step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= 0.7 * rough);
    if (size === 1) step = Math.max(1, Math.ceil(step));
    const ticks = [];
    for (let k = 0; k * step * size < highest * 1.0001; ++k)
      ticks.push({bytes: k * step * size, text: Number((k * step).toPrecision(6)) + " " + units[unit_of(highest)]});
    return ticks;
  };
  const short = (text, n) => (text.length <= n ? text : text.slice(0, n - 1) + "…");
  const steps_text = (n) => grouped(n) + (n === 1 ? " step" : " steps");

  // Tensors.
  const tensor_name = (t) => (t === WORKSPACE ? "workspace" : t === REST ? "smaller tensors" : data.tensors[t].name);
  const fill = (t) => (t === REST ? "var(--rest)" : t === WORKSPACE ? "var(--faint)" : `var(--c${t % colours})`);
  const swatch = (t) => make("span", {class: "swatch", style: `background: ${fill(t)}`});
  const tensor_words = (t, k, bytes) => {
    if (t === WORKSPACE) return `workspace of the operator: ${grouped(bytes)} bytes`;
    const x = data.tensors[t], life = x.lives[k];
    const made = x.producer === null ? "an input of the graph" : `written by ${x.producer}`;
    const read = life.last_reader === null ? "read by nobody" : `last read by ${life.last_reader}`;
    return `${x.name}: ${grouped(x.size)} bytes, ${made}, ${read}${x.stays ? ", stays to the end" : ""}; ` +
        `alive from step ${life.first + 1} to ${life.last + 1}, ${steps_text(life.last - life.first + 1)}; ` +
        `${x.readers} reader${x.readers === 1 ? "" : "s"}`;
  };
  /** Marks a tensor wherever it is drawn or listed; none where t is null. */
  const mark = (t) => {
    for (const node of document.querySelectorAll(".on")) node.classList.remove("on");
    if (t !== null)
      for (const node of document.querySelectorAll(`[data-tensor="${t}"]`)) {
        node.classList.add("on");
        if (node.classList.contains("layer")) node.parentNode.append(node);  // above its neighbours
      }
  };

  // Head.
  const figures = () => {
    const r = data.result;
    const entry = (term, value, note) => make("div", {}, make("dt", {}, term), make("dd", {}, value, make("small", {}, note)));
    const gap = r.peak - r.lower_bound;
    const list = make("dl", {},
      entry("peak of the order found", figure("peak", r.peak), r.peak < 1024 ? "bytes" : scaled(r.peak)),
      entry("no order takes less than", figure("lower_bound", r.lower_bound),
            gap === 0 ? "proven: this is the best order" : `at most ${percent(gap, r.peak)} could still be saved`),
      entry("the file's order", figure("given_peak", r.given_peak),
            r.given_peak > r.peak ? `${percent(r.given_peak - r.peak, r.given_peak)} saved` : "as good as the one found"),
      entry("operators", figure("operators", data.operators), `${r.scheduler}, ${r.firing}, ${r.seconds.toFixed(3)} s`));
    if (r.budget !== undefined)
      list.append(entry("budget", figure("budget", r.budget),
                        r.peak <= r.budget ? `met, ${grouped(r.budget - r.peak)} to spare` : "not met"));
    section("figures").append(list);
  };

  // Memory over time.
  const W = 1000, LEFT = 92, RIGHT = 14;
  const axis = (picture, scale, top, highest) => {
    for (const tick of ticks_to(highest))
      append(picture, [
        draw("line", {class: "grid", x1: LEFT, x2: W - RIGHT, y1: scale(tick.bytes), y2: scale(tick.bytes)}),
        draw("text", {class: "faint", x: LEFT - 8, y: scale(tick.bytes) + 4, "text-anchor": "end"}, tick.text)]);
  };
  /** The parts of a column, from the bottom: [tensor, bytes]. */
  const parts_of = (column) => {
    const parts = column.parts.map((x) => (Array.isArray(x) ? x : [x, data.tensors[x].size]));
    if (column.rest > 0) parts.unshift([REST, column.rest]);
    return parts;
  };
  /** One path for each tensor, with a piece for each stretch of columns in which it stands at all. */
  const layers_of = (order, x, y) => {
    const pieces = new Map();  // of each tensor, stretches of [column, low, high]
    order.columns.forEach((column, i) => {
      let low = 0;
      for (const [t, bytes] of parts_of(column)) {
        const stretches = pieces.get(t) ?? pieces.set(t, []).get(t);
        const last = stretches.at(-1);
        if (last === undefined || last.at(-1)[0] !== i - 1) stretches.push([[i, low, low + bytes]]);
        else last.push([i, low, low + bytes]);
        low += bytes;
      }
    });
    const round = (n) => n.toFixed(2);
    const start = (i) => round(x(order.columns[i].first));
    const end = (i) => round(x(order.columns[i].first + order.columns[i].steps));
    return [...pieces].map(([t, stretches]) => {
      const path = stretches.map((s) => `M${start(s[0][0])} ${round(y(s[0][1]))}` +
        s.map(([i, , high]) => `V${round(y(high))}H${end(i)}`).join("") +
        s.slice().reverse().map(([i, low]) => `V${round(y(low))}H${start(i)}`).join("") + "Z").join("");
      return draw("path", {class: "layer", d: path, style: `fill: ${fill(t)}`, "data-tensor": t});
    });
  };
  const chart = (order, k, highest) => {
    const H = 300, TOP = 22, BOTTOM = 34, n = order.steps;
    const x = (step) => LEFT + (W - LEFT - RIGHT) * step / Math.max(n, 1);
    const y = (bytes) => H - BOTTOM - (H - TOP - BOTTOM) * bytes / highest;
    const picture = draw("svg", {viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: "group", "data-order": k,
                                 "aria-label": `Memory over time, ${order.name}; arrow keys move, p goes to the peak`});
    axis(picture, y, TOP, highest);
    picture.append(draw("g", {class: order.columns.length > 150 ? "dense" : ""}, layers_of(order, x, y)));
    const bound = data.result.lower_bound;
    append(picture, [
      draw("line", {class: "bound", x1: LEFT, x2: W - RIGHT, y1: y(bound), y2: y(bound)}),
      draw("text", {class: "faint", x: (LEFT + W - RIGHT) / 2, y: H - 4, "text-anchor": "middle"},
           n === order.columns.length ? "operators, in the order in which they run"
             : `${grouped(n)} operators, in the order in which they run; each of ${order.columns.length} columns ` +
               "shows the one among its operators that takes the most")]);
    for (const [step, anchor] of [[0, "start"], [n, "end"]])
      picture.append(draw("text", {class: "faint", x: x(step), y: H - 19, "text-anchor": anchor}, step === 0 ? "1" : grouped(n)));
    const cursor = draw("rect", {class: "cursor", y: TOP, height: H - TOP - BOTTOM, width: 0});
    picture.append(cursor);

    const info = make("div", {class: "info", "aria-live": "polite"});
    const peak_at = order.columns.findIndex((c) => c.step === order.peak_step);
    let at = Math.max(peak_at, 0), chosen = null;
    const show = () => {
      const column = order.columns[at];
      if (column === undefined) return;
      cursor.setAttribute("x", x(column.first));
      cursor.setAttribute("width", Math.max(x(column.first + column.steps) - x(column.first), 1.5));
      const words = [paragraph(`step ${grouped(column.step + 1)} of ${grouped(n)}, `, strong(column.operator),
        `: ${in_words(column.bytes)}${column.step === order.peak_step ? ", the peak" : ""}`)];
      const part = chosen === null ? undefined : parts_of(column).find(([t]) => t === chosen);
      if (part !== undefined)
        words.push(paragraph(swatch(chosen), chosen === REST
          ? `${grouped(column.rest_count)} tensors of less than ${grouped(order.own_layer_from)} bytes each: ${grouped(column.rest)} bytes`
          : tensor_words(chosen, k, part[1])));
      info.replaceChildren(...words);
      mark(part === undefined ? null : chosen);
    };
    picture.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect();
      const step = ((event.clientX - box.left) / box.width * W - LEFT) / (W - LEFT - RIGHT) * n;
      const bytes = (H - BOTTOM - (event.clientY - box.top) / box.height * H) / (H - TOP - BOTTOM) * highest;
      const column = order.columns.findIndex((c) => step >= c.first && step < c.first + c.steps);
      if (column < 0) return;
      at = column, chosen = null;
      let low = 0;
      for (const [t, size] of parts_of(order.columns[at])) {
        if (bytes >= low && bytes < low + size) chosen = t;
        low += size;
      }
      show();
    });
    picture.addEventListener("keydown", (event) => {
      const last = order.columns.length - 1, parts = last < 0 ? [] : parts_of(order.columns[at]).map(([t]) => t);
      const place = parts.indexOf(chosen);
      const keys = {
        ArrowLeft: () => { at = Math.max(at - 1, 0); }, ArrowRight: () => { at = Math.min(at + 1, last); },
        Home: () => { at = 0; }, End: () => { at = last; }, p: () => { if (peak_at >= 0) at = peak_at; },
        ArrowUp: () => { chosen = parts[Math.min(place + 1, parts.length - 1)] ?? null; },
        ArrowDown: () => { chosen = place < 0 ? parts.at(-1) ?? null : parts[Math.max(place - 1, 0)]; },
        Escape: () => { chosen = null; },
      };
      if (keys[event.key] === undefined || last < 0) return;
      event.preventDefault();
      keys[event.key]();
      show();
    });
    show();
    const label = `${order.name}: peak ${in_words(order.peak)}`;
    return [make("h3", {}, label), make("div", {class: "wide"}, picture), info];
  };
  const memory = () => {
    const highest = 1.04 * Math.max(1, data.result.lower_bound, ...data.orders.map((o) => o.peak));
    const own = data.orders[0].own_layer_from;
    append(section("memory"), [
      paragraph("A layer is a tensor, from the step of its producer to that of its last reader. The dashed line is the " +
        "lower bound. Point at a layer, or use the arrow keys." +
        (own > 0 ? ` Tensors below 1 % of the peak are one grey layer.` : "")),
      ...data.orders.flatMap((o, k) => chart(o, k, highest))]);
  };

  // The peak.
  const saved = (part) => {
    const w = part.without;
    if (w === undefined) return ["", ""];
    const best = data.result.peak - w.best_order;
    const text = !data.searched_anew ? "" : w.best_order === w.lower_bound ? grouped(best) : "at least " + grouped(best);
    return [grouped(data.result.peak - w.same_order), text];
  };
  const peak = () => {
    const p = data.peak, here = section("peak");
    here.append(paragraph(p.operator === null ? "The peak is at the start, before any operator runs." : "While ",
      p.operator === null ? null : strong(p.operator),
      p.operator === null ? null : ` runs, at step ${grouped(p.step + 1)}, ${grouped(p.bytes)} bytes are in use:`));
    const head = make("tr", {}, ...["tensor", "bytes", "of the peak", "written by", "last read by", "saves, same order",
      "saves, best order"].map((text, i) => make("th", {class: [1, 2, 5, 6].includes(i) ? "number" : ""}, text)));
    const body = p.parts.map((part) => {
      const t = part.tensor, x = data.tensors[t], life = x?.lives[0];
      const [same, best] = saved(part);
      const number = (text) => make("td", {class: "number"}, text);
      const row = make("tr", {tabindex: 0, "data-tensor": t}, make("td", {}, swatch(t), tensor_name(t)), number(grouped(part.bytes)),
        number(percent(part.bytes, p.bytes)), make("td", {}, t === WORKSPACE ? "" : x.producer ?? "an input"),
        make("td", {}, t === WORKSPACE ? "" : x.stays ? "stays to the end" : life.last_reader ?? "nobody"), number(same), number(best));
      row.addEventListener("pointerenter", () => mark(t));
      row.addEventListener("focus", () => mark(t));
      return row;
    });
    if (p.rest_count > 0)
      body.push(make("tr", {}, make("td", {}, `${grouped(p.rest_count)} more`), make("td", {class: "number"}, grouped(p.rest)),
        make("td", {class: "number"}, percent(p.rest, p.bytes)), make("td", {colspan: 4})));
    append(here, [make("div", {class: "wide"}, make("table", {}, make("thead", {}, head), make("tbody", {}, body))),
      paragraph("“Saves” is how much lower the peak would be if a tensor took nothing: in this order, and in the best order " +
        (data.searched_anew ? "found for the graph without it." : "(not searched for so large a graph)."))]);
  };

  /** Who wrote what is alive at the peak, and who still waits for it. */
  const around = () => {
    const rows = data.peak.parts.filter((part) => part.tensor !== WORKSPACE)
      .sort((a, b) => (a.written_at ?? -1) - (b.written_at ?? -1));
    const writers = [], readers = [];
    const add = (list, key, entry) => list.find((w) => w.key === key) ?? (list.push({key, ...entry}), list.at(-1));
    const edges = [];
    rows.forEach((row, i) => {
      const x = data.tensors[row.tensor];
      const from = add(writers, row.written_at ?? -1, {name: x.producer ?? "input of the graph", step: row.written_at});
      edges.push({row: i, end: from, left: true});
      for (const w of row.waiting) edges.push({row: i, end: add(readers, w.step, {name: w.operator, step: w.step}), left: false});
      if (row.waiting_count > row.waiting.length || x.stays) {
        const more = row.waiting_count - row.waiting.length;
        const name = x.stays ? "the end of the graph" : "further readers";
        edges.push({row: i, end: add(readers, x.stays ? Infinity : 1e15, {name, step: null}), left: false, more});
      }
    });
    writers.sort((a, b) => a.key - b.key), readers.sort((a, b) => a.key - b.key);
    const high = Math.max(rows.length, writers.length, readers.length, 1), H = 26 * high + 34;
    const y = (list, i) => 34 + (H - 34) * (i + 0.5) / list.length;
    const picture = draw("svg", {viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Who wrote what is alive, and who waits for it"});
    for (const [at, anchor, text] of [[250, "end", "written by"], [500, "middle", "alive at the peak"], [750, "start", "waited for by"]])
      picture.append(draw("text", {class: "faint", x: at, y: 14, "text-anchor": anchor}, text));
    for (const e of edges) {
      const a = y(rows, e.row), b = e.left ? y(writers, writers.indexOf(e.end)) : y(readers, readers.indexOf(e.end));
      const [x1, x2] = e.left ? [258, 370] : [630, 742];
      const [y1, y2] = e.left ? [b, a] : [a, b];
      picture.append(draw("path", {class: "edge", "data-tensor": rows[e.row].tensor,
        d: `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`}));
    }
    rows.forEach((row, i) => {
      const middle = y(rows, i), name = tensor_name(row.tensor);
      picture.append(draw("g", {}, draw("title", {}, tensor_words(row.tensor, 0, row.bytes)),
        draw("rect", {class: "layer", x: 370, width: 260, y: middle - 10, height: 20, rx: 3, "data-tensor": row.tensor,
                      style: `fill: ${fill(row.tensor)}; fill-opacity: 0.35`}),
        draw("text", {x: 378, y: middle + 4}, short(name, 24)),
        draw("text", {x: 622, y: middle + 4, "text-anchor": "end"}, scaled(row.bytes))));
    });
    const ends = (list, at, anchor) => list.forEach((w, i) => {
      const runs = w.step !== null && w.step === data.peak.step;
      const label = short(w.name, 26) + (w.step === null ? "" : ` (${grouped(w.step + 1)})`);
      picture.append(draw("text", {class: runs ? "mark" : "", x: at, y: y(list, i) + 4, "text-anchor": anchor}, label,
                          draw("title", {}, w.name)));
    });
    ends(writers, 250, "end"), ends(readers, 750, "start");
    append(section("around"), [paragraph("In brackets: the step at which an operator runs. " +
      (data.peak.operator === null ? "" : "The one that runs at the peak is marked.")), make("div", {class: "wide"}, picture)]);
  };

  // Why.
  const named_list = (places, count) => {
    const list = make("ul", {}, places.map((t) => make("li", {"data-tensor": t}, swatch(t), `${tensor_name(t)}, ${grouped(data.tensors[t].size)} bytes`)));
    if (count > places.length) list.append(make("li", {}, `and ${grouped(count - places.length)} more`));
    return list;
  };
  const reason = () => {
    const r = data.reason, result = data.result, here = section("reason");
    if (r.operator === null) {
      here.append(paragraph(`What is alive at the start or at the end takes ${grouped(r.bound)} bytes in every order.`));
    } else {
      const others = r.bound - r.together_bytes;
      append(here, [paragraph(`These must be in memory together ${r.moment === "before" ? "right before" : "while"} `, strong(r.operator), " runs, whatever the order: they take ",
        strong(`${scaled(r.together_bytes)} of the peak's ${scaled(result.peak)}`),
        result.peak < 1024 ? ":" : ` (${grouped(r.together_bytes)} of ${grouped(result.peak)} bytes):`),
        named_list(r.together, r.together_count)]);
      if (r.workspace > 0) here.append(paragraph(`Its workspace of ${grouped(r.workspace)} bytes is counted with them.`));
      if (r.spared > 0) here.append(paragraph(`It may write over an input, which spares ${grouped(r.spared)} bytes of that.`));
      if (others > 0)
        append(here, [paragraph(`Whatever else has run by then, further tensors take ${grouped(others)} bytes at least. They take least when ` +
          `${grouped(r.ran)} operators have run before, and these are alive:`), named_list(r.cheapest, r.cheapest_count)]);
      here.append(paragraph(`So no order takes less than ${grouped(r.bound)} bytes: this is a minimum cut.`));
    }
    const proof = data.proof;
    if (proof !== undefined && proof.bound > r.bound) {
      if (proof.count > 0)
        here.append(paragraph(`More follows from cuts that build upon each other. An order below ${grouped(proof.bound)} bytes`));
      if (proof.count > 0) here.append(make("ol", {}, proof.steps.map((s) => make("li", {}, s.other === null
        ? `cannot run ${s.operator} at all: ${grouped(s.level)} bytes would be in use at least.`
        : `must run ${s.first ? s.operator : s.other} before ${s.first ? s.other : s.operator}: else ${grouped(s.level)} bytes ` +
          `would be in use at least when ${s.operator} runs;`))));
      if (proof.count > proof.steps.length)
        here.append(paragraph(`and so on: ${grouped(proof.count)} steps in all, which \`memsched schedule --certificate\` writes.`));
      if (proof.sets !== undefined)
        here.append(paragraph(`Such an order would always be within one of ${grouped(proof.sets)} sets of operators that have run, ` +
          `from none of which it gets out below ${grouped(proof.bound)} bytes.`));
    }
    const proven = Math.max(r.bound, proof?.bound ?? 0);
    if (result.lower_bound > proven)
      here.append(paragraph(`That no order takes less than ${grouped(result.lower_bound)} bytes was proven by search.`));
    here.append(paragraph(result.peak === Math.max(result.lower_bound, proven) ? strong("The order found takes just that: none takes less.")
      : `The order found takes ${grouped(result.peak)} bytes. Whether one takes less is open.`));
  };

  // The arena.
  const arena = () => {
    const a = data.arena;
    if (a === undefined) return;
    const here = section("arena");
    here.hidden = false;
    if (a.error !== undefined) {
      here.append(paragraph(a.error));
      return;
    }
    const H = 380, TOP = 12, BOTTOM = 30, highest = 1.02 * Math.max(a.size, 1);
    const x = (time) => LEFT + (W - LEFT - RIGHT) * time / a.end;
    const y = (bytes) => H - BOTTOM - (H - TOP - BOTTOM) * bytes / highest;
    const picture = draw("svg", {viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: "group", "aria-label": "The arena; arrow keys go through its buffers"});
    axis(picture, y, TOP, highest);
    const info = make("div", {class: "info", "aria-live": "polite"});
    const shapes = a.buffers.map((b, i) => {
      let path = `M${x(b.lower)} ${y(b.offset)}V${y(b.offset + b.size)}`;
      for (const [at, size] of b.drops ?? []) path += `H${x(at)}V${y(b.offset + size)}`;
      return draw("path", {class: "layer", d: path + `H${x(b.upper)}V${y(b.offset)}Z`, style: `fill: var(--c${i % colours})`, "data-buffer": i});
    });
    picture.append(draw("g", {}, shapes));
    a.buffers.forEach((b) => {
      const wide = x(b.upper) - x(b.lower), lowest = (b.drops ?? []).reduce((n, [, size]) => Math.min(n, size), b.size);
      if (y(0) - y(lowest) > 15 && wide > 7 * Math.min(b.name.length, 6) + 8)
        picture.append(draw("text", {x: (x(b.lower) + x(b.upper)) / 2, y: y(b.offset + lowest / 2) + 4, "text-anchor": "middle",
                                     "pointer-events": "none"}, short(b.name, Math.floor(wide / 7))));
    });
    append(picture, [draw("line", {class: "bound", x1: LEFT, x2: W - RIGHT, y1: y(a.lower_bound), y2: y(a.lower_bound)}),
      draw("text", {class: "faint", x: (LEFT + W - RIGHT) / 2, y: H - 6, "text-anchor": "middle"}, "time, in the order found; offset upwards")]);
    const by_time = a.buffers.map((_, i) => i).sort((i, j) => a.buffers[i].lower - a.buffers[j].lower || a.buffers[i].offset - a.buffers[j].offset);
    let at = -1;
    const show = (i) => {
      const b = a.buffers[i];
      at = by_time.indexOf(i);
      mark(null);
      shapes[i].classList.add("on");
      shapes[i].parentNode.append(shapes[i]);
      const step = (time) => grouped(Math.min(Math.floor(time / 2) + 1, (a.end - 1) / 2));
      info.replaceChildren(paragraph(strong(b.name), `: ${grouped(b.size)} bytes at offset ${grouped(b.offset)}, from step ${step(b.lower)} to ${step(b.upper - 1)}`));
    };
    picture.addEventListener("pointerover", (event) => {
      if (event.target.dataset.buffer !== undefined) show(Number(event.target.dataset.buffer));
    });
    picture.addEventListener("keydown", (event) => {
      const move = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (move === undefined || by_time.length === 0) return;
      event.preventDefault();
      show(by_time[Math.max(0, Math.min(by_time.length - 1, at + move))]);
    });
    append(here, [paragraph("An arena of ", figure("arena", a.size), ` bytes holds all tensors of the order found; none of less than `,
      figure("arena_bound", a.lower_bound), ` bytes does (dashed)${a.size === a.lower_bound ? ": it is the smallest" : ""}.` +
      (a.count > a.buffers.length ? ` The ${grouped(a.buffers.length)} largest of ${grouped(a.count)} buffers are drawn.` : "")),
      make("div", {class: "wide"}, picture), info]);
  };

  const rewrites = () => {
    const r = data.rewrites, here = section("rewrites");
    if (r.reason !== undefined) {
      here.append(paragraph(`No rewrite was tried: ${r.reason}`));
      return;
    }
    const kept = r.steps.filter((s) => s.kept && s.peak < s.peak_before);
    here.append(paragraph(kept.length === 0 ? "No rewrite that was tried lowers the peak."
      : `A rewritten network takes ${grouped(r.after)} bytes in its best order found, instead of ${grouped(r.before)}, with ` +
        `${grouped(r.operators)} operators instead of ${grouped(r.operators_before)}.`));
    if (r.not_understood) here.append(paragraph(`${r.not_understood}. No rewrite touches these.`));
    if (r.steps.length === 0) return;
    const shown = r.steps.slice(0, 30), number = (text) => make("td", {class: "number"}, text);
    const head = ["rewrite", "where", "peak before", "peak after", "operators", ""];
    append(here, [make("div", {class: "wide"}, make("table", {},
      make("thead", {}, make("tr", {}, head.map((text, i) => make("th", {class: i >= 2 && i <= 4 ? "number" : ""}, text)))),
      make("tbody", {}, shown.map((s) => make("tr", {}, make("td", {}, s.rule), make("td", {}, s.site), number(grouped(s.peak_before)),
        number(grouped(s.peak)), number(grouped(s.operators)), make("td", {}, s.kept ? "pays" : "does not pay")))))),
      r.steps.length > shown.length ? paragraph(`${grouped(r.steps.length - shown.length)} more were tried.`) : null,
      r.stopped === "finished" ? null : paragraph("The time was up before all were tried."),
      paragraph("`memsched rewrite` writes the network, checks it, and goes on for longer.")]);
  };

  section("theme").addEventListener("click", () => {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme ?? (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
  for (const part of [figures, memory, peak, around, reason, arena, rewrites]) part();
})();
