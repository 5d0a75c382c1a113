"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const result = data.result, WORKSPACE = -1, SMALL = -2;  // below: the small ones of a kind

  // Pieces of the page.
  const append = (node, children) => {
    for (const c of children.flat()) if (c !== null && c !== undefined) node.append(c);
    return node;
  };
  const set = (node, attributes, children) => {
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return append(node, children);
  };
  const make = (name, attributes, ...children) => set(document.createElement(name), attributes, children);
  const draw = (name, attributes, ...children) =>
    set(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
  const section = (id) => document.getElementById(id);
  const paragraph = (...children) => make("p", {}, ...children);
  const strong = (text) => make("strong", {}, text);
  const number = (text) => make("td", {class: "number"}, text);
  const copied = (command, shown) => {
    const button = make("button", {type: "button", title: "copy the command"}, "copy");
    button.addEventListener("click", () => navigator.clipboard?.writeText(command).then(() => (button.textContent = "copied")));
    return [make("code", {title: command}, shown ?? command), " ", button];
  };
  const folded = (title, ...children) => make("details", {}, make("summary", {}, title), ...children);
  const pressed = (text, title, act) => {
    const button = make("button", {type: "button", title}, text);
    button.addEventListener("click", act);
    return button;
  };
  const heads = (titles, numeric) => make("thead", {}, make("tr", {}, titles.map((t, i) => make("th", {class: numeric(i) ? "number" : ""}, t))));

  // Files of what is shown.
  const save = (name, type, text) => {
    const link = make("a", {download: name, href: URL.createObjectURL(new Blob([text], {type}))});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const csv_of = (titles, rows) => {
    const field = (v) => (/[",\n]/.test(String(v ?? "")) ? `"${v.replaceAll('"', '""')}"` : String(v ?? ""));
    return [titles, ...rows].map((row) => row.map(field).join(",") + "\n").join("");
  };
  /** What a picture shows as a folded table, made when it is opened, and as a file. `rows` makes lists of texts and numbers. */
  const as_data = (title, file, titles, rows) => {
    const shown = folded(title);
    shown.addEventListener("toggle", () => {
      if (shown.children.length > 1) return;
      const all = rows(), numeric = (i) => typeof all[0]?.[i] === "number";
      const cell = (v) => (typeof v === "number" ? number(grouped(v)) : make("td", {}, bdi(v)));
      const body = make("tbody", {}, all.map((row) => make("tr", {}, row.map(cell))));
      shown.append(make("div", {class: "wide"}, make("table", {}, heads(titles, numeric), body)));
    });
    return make("div", {class: "data"}, shown, pressed("CSV", `save ${file}`, () => save(file, "text/csv", csv_of(titles, rows()))));
  };

  // Names. Characters that would turn the direction of the text around are left out; a fused name is its first part.
  const clean = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  const first_part = (text) => clean(text).split(";")[0];
  const middle_cut = (t, n) => (t.length <= n ? t : t.slice(0, Math.ceil((n - 1) / 2)) + "…" + t.slice(t.length - Math.floor((n - 1) / 2)));
  /** At most n characters. Of a path the last part that is numbered stays, with as many of its neighbours as fit. */
  const short = (text, n) => {
    const t = first_part(text), parts = t.split("/");
    if (t.length <= n || parts.length === 1) return middle_cut(t, n);
    const numbered = parts.findLastIndex((x) => /(^|[^a-z])\d+$/i.test(x));
    let from = numbered < 0 ? parts.length - 1 : numbered, to = from + 1;
    const cut = () => (from > 0 ? "…/" : "") + parts.slice(from, to).join("/") + (to < parts.length ? "/…" : "");
    if (cut().length > n) return middle_cut(parts[from], n);
    for (let best = cut(); ; best = cut()) {
      if (to < parts.length && (++to, cut().length > n)) --to;
      if (from > 0 && (--from, cut().length > n)) ++from;
      if (cut() === best) return best;
    }
  };
  const bdi = (text, n = 48) => make("bdi", {title: clean(text)}, short(text, n));

  // Numbers.
  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const unit_of = (n) => {
    let u = 0;
    while (n >= 1024 && u + 1 < units.length) n /= 1024, ++u;
    return u;
  };
  /** 2359296 -> "2.25 MiB": three digits. */
  const scaled = (n) => {
    const u = unit_of(n), value = n / 1024 ** u;
    return Number(value.toFixed(u === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)) + " " + units[u];
  };
  const in_words = (n) => (n < 1024 ? `${n} bytes` : `${scaled(n)} (${grouped(n)} bytes)`);
  const percent = (part, whole) => (whole === 0 ? 0 : 100 * part / whole).toFixed(1) + "\u00a0%";
  const counted = (n, one) => `${grouped(n)} ${one}${n === 1 ? "" : "s"}`;
  /** A number of the result, findable by its name. */
  const figure = (name, n) => make("span", {"data-figure": name, "data-value": n, class: "hidden"}, grouped(n));
  /** About `count` round ticks from 0 to `highest`. */
  const ticks_to = (highest, size, count) => {
    const rough = highest / size / count, power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
    let step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= 0.7 * rough);
    if (size === 1) step = Math.max(1, Math.ceil(step));
    const ticks = [];
    for (let k = 0; k * step * size < highest * 1.0001; ++k) ticks.push(Number((k * step).toPrecision(6)));
    return ticks;
  };

  // Tensors and their colours.
  const tensor = (t) => data.tensors[t];
  const tensor_name = (t) => (t === WORKSPACE ? "workspace" : t <= SMALL ? `small: ${data.kinds[SMALL - t]}` : tensor(t).name);
  const shape_of = (t) => {
    const shape = tensor(t).shape;
    return shape === undefined || shape === null ? "" : shape.length === 0 ? "scalar" : shape.map((d) => (d < 0 ? "?" : d)).join("×");
  };
  const form_of = (t) => [tensor(t).type ?? "", shape_of(t)].filter((x) => x !== "").join(" ");
  const keys = {
    kind: (t) => {
      if (t === WORKSPACE) return "workspace";
      if (t <= SMALL) return data.kinds[SMALL - t];
      if (tensor(t).producer === null) return "input";
      const last = first_part(tensor(t).producer).split(/[/.:]/).filter((x) => x !== "").at(-1) ?? "";
      return last.replace(/[_\- ]?\d+[a-z]?$/i, "").toLowerCase() || "operator";
    },
    scope: (t) => (t === WORKSPACE ? "workspace" : t <= SMALL ? "small" : tensor(t).producer === null ? "input"
      : first_part(tensor(t).producer).split("/").slice(0, 2).join("/")),
    size: (t) => (t === WORKSPACE ? "workspace" : t <= SMALL ? "small" : scaled(tensor(t).size)),
  };
  let colouring = "kind", colours = new Map();
  const bytes_over_time = () => {
    const sums = new Map();
    for (const c of data.orders[0].columns)
      for (const [t, bytes] of parts_of(c))
        sums.set(keys[colouring](t), (sums.get(keys[colouring](t)) ?? 0) + bytes * c.steps);
    return [...sums].sort((a, b) => b[1] - a[1]);
  };
  /** The largest at the peak have a colour, and then those that take the most all over. */
  const choose_colours = () => {
    const sums = new Map();
    for (const {tensor: t, bytes} of data.peak.parts) sums.set(keys[colouring](t), (sums.get(keys[colouring](t)) ?? 0) + bytes);
    const peak_keys = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([key]) => key);
    const largest = [...new Set([...peak_keys, ...bytes_over_time().map(([key]) => key)])].filter((key) => key !== "input" && key !== "workspace");
    colours = new Map(largest.slice(0, 7).map((key, i) => [key, `var(--c${i})`]));
    colours.set("input", "var(--c7)").set("workspace", "var(--faint)");
  };
  const fill = (t) => (colours.get(keys[colouring](t)) ?? "var(--rest)");
  const swatch = (t) => make("span", {class: "swatch", "data-colour-of": t, style: `background: ${fill(t)}`});
  const parts_of = (column) => {
    const parts = column.parts.map((x) => (Array.isArray(x) ? x : [x, tensor(x).size]));
    return [...column.rest_kinds.map(([kind, bytes]) => [SMALL - kind, bytes]), ...parts];
  };
  const tensor_words = (t, bytes) => {
    if (t === WORKSPACE) return `workspace of the operator: ${in_words(bytes)}`;
    const x = tensor(t), life = x.lives[0];
    const made = x.producer === null ? "an input of the graph" : `written by ${short(x.producer, 60)}`;
    const read = life.last_reader === null ? "read by no operator" : `last read by ${short(life.last_reader, 60)}`;
    const form = form_of(t) === "" ? "" : `${form_of(t)}, `;
    return `${short(x.name, 80)}: ${form}${in_words(x.size)}, ${made}, ${read}${x.stays ? ", stays to the end" : ""}; alive from step ` +
        `${grouped(life.first + 1)} to ${grouped(life.last + 1)}; ${counted(x.readers, "reader")}`;
  };
  const at_peak = new Set(data.peak.parts.map((p) => p.tensor));
  /** Marks a tensor wherever it is drawn or listed; none where t is null. */
  const mark = (t) => {
    for (const node of document.querySelectorAll(".on")) node.classList.remove("on");
    if (t === null) return;
    for (const node of document.querySelectorAll(`[data-tensor="${t}"]`)) {
      node.classList.add("on");
      if (node.classList.contains("layer")) node.parentNode.append(node);  // above its neighbours
    }
  };

  // The head.
  const head = () => {
    const i = data.input, name = i.path === "-" ? result.graph : i.path.split("/").at(-1);
    document.querySelector("h1").append(make("bdi", {}, clean(name)));
    const facts = [];
    if (clean(result.graph) !== name) facts.push(["graph ", bdi(result.graph, 40)]);
    facts.push([counted(data.operators, "operator")]);
    if (data.choices.macs !== undefined) facts.push([`${grouped(data.choices.macs)} multiply-accumulates`]);
    if (i.bytes !== undefined) facts.push([`file of ${scaled(i.bytes)}`]);
    if (i.sha256 !== undefined) facts.push([make("span", {title: i.sha256}, `sha256 ${i.sha256.slice(0, 12)}…`)]);
    facts.push([`memsched ${i.version}`, `, ${result.scheduler}, ${result.firing}`]);
    const line = make("p", {class: "faint"});
    facts.forEach((f, k) => append(line, [k > 0 ? " · " : null, f]));
    append(section("input"), [line, make("p", {class: "faint"}, copied(i.command))]);
    append(section("input"), [figure("peak", result.peak), figure("lower_bound", result.lower_bound),
      figure("given_peak", result.given_peak), figure("operators", data.operators)]);
  };
  /** One sentence: the operator at which every order takes at least the bound, and the tensors. */
  const cause = () => {
    const r = data.reason;
    if (r.operator === null) return [` What is alive at the start or at the end takes ${scaled(r.bound)}.`];
    const largest = r.together.slice(0, 2).map((t) => [bdi(tensor_name(t), 32), ` (${scaled(tensor(t).size)})`]);
    if (largest.length === 0) return [];
    return [" While ", bdi(r.operator, 32), r.moment === "before" ? " waits to run, " : " runs, ", largest[0],
      largest.length > 1 ? [" and ", largest[1]] : [], r.together_count > 2 ? ` and ${grouped(r.together_count - 2)} more` : "",
      largest.length > 1 ? " must be there together." : " must be there."].flat(3);
  };
  const verdict = () => {
    const here = section("verdict"), gap = result.peak - result.lower_bound, budget = result.budget;
    const rows = data.choices.rows, saved = result.given_peak - result.peak;
    if (budget === undefined) {
      here.className = gap === 0 ? "good" : "";
      here.append(paragraph(strong(gap === 0 ? `${scaled(result.peak)}: proven, no order takes less.`
        : `${scaled(result.peak)} found; no order takes less than ${scaled(result.lower_bound)}.`),
        saved > 0 ? ` The file's order takes ${scaled(result.given_peak)}; another one saves ${percent(saved, result.given_peak)} of that.`
          : " The file's order is as good.", ...cause()));
      const least = rows.at(-1);
      if (least.peak < result.peak)
        here.append(paragraph(strong(`A rewritten network takes ${scaled(least.peak)}`), ` with ${counted(least.operators, "operator")}.`));
      return;
    }
    here.append(figure("budget", budget));
    const fits = rows.find((row) => row.fits);
    if (result.peak <= budget) {
      here.className = "good";
      here.append(paragraph(strong(`Fits ${scaled(budget)}`), result.given_peak <= budget ? " in the file's own order."
        : ` in another order: ${scaled(result.peak)}, ${scaled(budget - result.peak)} to spare.`));
      return;
    }
    here.className = fits ? "" : "bad";
    const proven = result.lower_bound > budget;
    here.append(paragraph(strong(`Does not fit ${scaled(budget)} by order alone: ${scaled(result.peak - budget)} short` +
      (proven ? ", proven." : ", as far as the search went.")), ...cause()));
    if (fits) here.append(paragraph(strong(`Fits with ${counted(fits.operators - data.operators, "more operator")}`),
      ` (${grouped(fits.operators)}, ${fits.extra_macs === 0 ? "no extra multiply-accumulates" : grouped(fits.extra_macs) + " extra multiply-accumulates"}): ${scaled(fits.peak)}. The command is below.`));
    else here.append(paragraph(data.choices.steps === undefined ? "No rewrite was tried" + (/\.(onnx|tflite)$/.test(data.input.path) ? "." : ": that needs a model, .tflite or .onnx.")
      : "No rewritten network that was tried fits either."));
  };

  // The choices of the user.
  const choices = () => {
    const c = data.choices, here = section("choices"), judged = result.budget !== undefined;
    const titles = ["do", "peak", ...(judged ? ["fits"] : []), "of the file's", "operators", "extra MACs", "command"];
    const body = c.rows.map((row) => make("tr", {}, make("td", {}, row.what), number(scaled(row.peak)),
      judged ? make("td", {class: row.fits ? "yes" : "no"}, row.fits ? "yes" : "no") : null,
      number(percent(row.peak, c.rows[0].peak)), number(grouped(row.operators)), number(grouped(row.extra_macs)),
      make("td", {}, row.command === null ? "" : copied(row.command, row.command.replaceAll(data.input.path, data.input.path.split("/").at(-1))))));
    append(here, [make("div", {class: "wide"}, make("table", {},
      heads(titles, (i) => !["do", "fits", "command"].includes(titles[i])),
      make("tbody", {}, body)))]);
    if (c.rows.some((row) => row.what.startsWith("blocks")))
      here.append(paragraph("Blocks of rows need kernels that read and write parts: ", make("code", {}, "--emit-c DIR"),
        " writes such a program in C; ", make("code", {}, "-o out.tflite"), " writes standard operators, where blocks are copied, which may take more."));
    if (c.reason !== undefined) here.append(paragraph(c.reason));
    if (c.not_understood) here.append(paragraph(`${c.not_understood}. No rewrite touches these.`));
    if (c.stopped !== undefined && c.stopped !== "finished") here.append(paragraph("The time was up before all were tried: --time-limit sets more."));
    const steps = c.steps ?? [];
    if (steps.length > 0)
      here.append(folded(`All that was tried: ${counted(steps.length, "rewrite")}`, make("div", {class: "wide"}, make("table", {},
        heads(["rewrite", "where", "peak after", "operators", "kept"], (i) => i === 2 || i === 3),
        make("tbody", {}, steps.slice(0, 100).map((s) => make("tr", {}, make("td", {}, s.rule), make("td", {}, bdi(s.site, 60)),
          number(scaled(s.peak)), number(grouped(s.operators)), make("td", {}, s.kept ? "yes" : "no"))))))));
  };

  // Where it goes: the layers of the order, and below the arena, on one axis.
  const LEFT = 76, RIGHT = 160;
  const order = data.orders[0], file = data.orders[1], n = Math.max(order.steps, 1);
  let on_paper = false;
  const width = () => (on_paper ? 700 : Math.max(300, section("memory").clientWidth));
  const narrow = () => W < 640;
  const right = () => (narrow() ? 8 : RIGHT);
  let W = 1000;
  let view = [0, n], chosen = null, at = Math.max(order.columns.findIndex((c) => c.step === order.peak_step), 0);
  const x_of = (step) => LEFT + (W - LEFT - right()) * (step - view[0]) / (view[1] - view[0]);
  const highest = 1.04 * Math.max(1, result.lower_bound, result.budget ?? 0, ...data.orders.map((o) => o.peak));

  const axis = (picture, y, top) => {
    const size = 1024 ** unit_of(top);
    for (const tick of ticks_to(top, size, 5))
      append(picture, [draw("line", {class: "grid", x1: LEFT, x2: W - right(), y1: y(tick * size), y2: y(tick * size)}),
        draw("text", {class: "faint", x: LEFT - 6, y: y(tick * size) + 4, "text-anchor": "end"}, `${tick} ${units[unit_of(top)]}`)]);
  };
  /** The first step in view and round ones, with the operator that runs there. */
  const step_axis = (picture, H) => {
    const span = view[1] - view[0], [, every] = [...ticks_to(span, 1, narrow() ? 2 : 6), 1], first = Math.ceil(view[0]) + 1;
    let free = LEFT - 1, named_to = 0;
    for (let step = first; step <= Math.min(n, view[1]); step = (Math.floor(step / every) + 1) * every) {
      const x = x_of(step - 0.5), column = order.columns.findLast((c) => c.first < step);
      if (x < free || x > W - right() || column === undefined) continue;
      free = x + 70;
      const name = short(column.operator, 16), wide = 7.4 * name.length;
      const [at_x, anchor] = x - LEFT < wide / 2 ? [LEFT, "start"] : x + wide / 2 > W ? [W - 2, "end"] : [x, "middle"];
      const from = anchor === "start" ? LEFT : anchor === "end" ? W - 2 - wide : x - wide / 2;
      picture.append(draw("text", {class: "faint", x: x + 30 > W ? W - 2 : x, y: H - 18, "text-anchor": x + 30 > W ? "end" : "middle"}, grouped(step)));
      if (from < named_to) continue;
      named_to = from + wide + 6;
      picture.append(draw("text", {class: "faint", x: at_x, y: H - 4, "text-anchor": anchor}, name));
    }
  };
  /** One path for each tensor, with a piece for each stretch of columns in which it stands at all. */
  const layers = (y) => {
    const pieces = new Map();
    order.columns.forEach((column, i) => {
      let low = 0;
      if (column.first >= view[1] || column.first + column.steps <= view[0]) return;
      for (const [t, bytes] of parts_of(column)) {
        const stretches = pieces.get(t) ?? pieces.set(t, []).get(t), last = stretches.at(-1);
        if (last === undefined || last.at(-1)[0] !== i - 1) stretches.push([[i, low, low + bytes]]);
        else last.push([i, low, low + bytes]);
        low += bytes;
      }
    });
    const round = (v) => v.toFixed(2);
    const start = (i) => round(x_of(order.columns[i].first)), end = (i) => round(x_of(order.columns[i].first + order.columns[i].steps));
    return [...pieces].map(([t, stretches]) => draw("path", {class: at_peak.has(t) || t <= SMALL ? "layer" : "layer pale", style: `fill: ${fill(t)}`, "data-tensor": t,
      d: stretches.map((s) => `M${start(s[0][0])} ${round(y(s[0][1]))}` + s.map(([i, , high]) => `V${round(y(high))}H${end(i)}`).join("") +
        s.slice().reverse().map(([i, low]) => `V${round(y(low))}H${start(i)}`).join("") + "Z").join("")}));
  };
  const line_of = (o, y) => o.columns.map((c, i) => `${i === 0 ? `M${x_of(c.first).toFixed(2)} ` : "V"}${y(c.bytes).toFixed(2)}` +
    `H${x_of(c.first + c.steps).toFixed(2)}`).join("");
  const level = (picture, y, bytes, style, label, placed) => {
    let at_y = y(bytes) + 4;
    while (placed.some((other) => Math.abs(other - at_y) < 14)) at_y += 14;
    placed.push(at_y);
    picture.append(draw("line", {class: style, x1: LEFT, x2: W - right(), y1: y(bytes), y2: y(bytes)}));
    picture.append(narrow() ? draw("text", {class: "over", x: W - right() - 4, y: at_y - 8, "text-anchor": "end"}, label)
      : draw("text", {class: style === "budget" ? "mark" : "faint", x: W - right() + 6, y: at_y}, label));
  };
  const chart_holder = make("div", {class: "chart"}), arena_holder = make("div", {class: "chart"}), info = make("div", {class: "info", "aria-live": "polite"});
  const legend = make("div", {class: "legend"});
  const map_holder = make("div", {class: "map", hidden: ""});
  let cursor = null, seen = null;

  const show = () => {
    const column = order.columns[at];
    if (column === undefined) return;
    cursor.setAttribute("x", x_of(column.first));
    cursor.setAttribute("width", Math.max(x_of(column.first + column.steps) - x_of(column.first), 1.5));
    const words = [paragraph(`step ${grouped(column.step + 1)} of ${grouped(n)}, `, strong(bdi(column.operator, 60)),
      `: ${in_words(column.bytes)}${column.step === order.peak_step ? ", the peak" : ""}`)];
    const part = chosen === null ? undefined : parts_of(column).find(([t]) => t === chosen);
    if (chosen !== null && chosen <= SMALL)
      words.push(paragraph(swatch(chosen), `of ${counted(column.rest_count, "tensor")} of less than ${scaled(order.own_layer_from)} each, `,
        bdi(data.kinds[SMALL - chosen]), ` takes ${scaled(part?.[1] ?? 0)}, all ${scaled(column.rest)}`));
    else if (chosen !== null) words.push(paragraph(swatch(chosen), tensor_words(chosen, part?.[1] ?? 0)));
    info.replaceChildren(...words);
    mark(chosen);
  };
  const column_at = (step) => Math.max(0, Math.min(order.columns.length - 1, order.columns.findLastIndex((c) => c.first <= step)));
  const step_at = (picture, event) => {
    const box = picture.getBoundingClientRect();
    return view[0] + (view[1] - view[0]) * (W * (event.clientX - box.left) / box.width - LEFT) / (W - LEFT - right());
  };
  const look_at = (picture, event, pick) => {
    at = column_at(step_at(picture, event));
    chosen = pick(picture.getBoundingClientRect(), event);
    show();
  };
  /** Shows `span` steps around `middle`, as far as there are steps. */
  const look_around = (middle, span) => {
    const wide = Math.max(Math.min(span, n), Math.min(n, 8)), from = Math.max(0, Math.min(n - wide, middle - wide / 2));
    view = [from, from + wide];
    paint();
  };
  const middle_of = (c) => (c === undefined ? n / 2 : c.first + c.steps / 2);
  const zoom = (factor) => look_around(middle_of(order.columns[at]), (view[1] - view[0]) / factor);
  /** Moves the view where the column at hand is not within. */
  const follow = () => {
    const middle = middle_of(order.columns[at]);
    if (middle < view[0] || middle > view[1]) look_around(middle, view[1] - view[0]);
  };
  /** A drag of a picture moves a part of the steps; true while it does. */
  let grip = null;
  const dragged = (picture, event) => {
    if (event.type === "pointerdown") grip = {x: event.clientX, view, scale: (view[1] - view[0]) * W / (W - LEFT - right()) / picture.getBoundingClientRect().width};
    if (grip === null || event.buttons === 0 || view[1] - view[0] >= n) return false;
    const moved = event.clientX - grip.x;
    if (event.type !== "pointermove" || Math.abs(moved) < 4) return false;
    const span = grip.view[1] - grip.view[0];
    look_around(grip.view[0] + span / 2 - moved * grip.scale, span);
    return true;
  };
  const keys_of = (event) => {
    const parts = order.columns[at] === undefined ? [] : parts_of(order.columns[at]);
    const place = parts.findIndex(([t]) => t === chosen);
    const move = {
      ArrowRight: () => ++at, ArrowLeft: () => --at, Home: () => (at = 0), End: () => (at = order.columns.length - 1),
      p: () => (at = Math.max(order.columns.findIndex((c) => c.step === order.peak_step), 0)),
      ArrowUp: () => (chosen = parts[Math.min(place + 1, parts.length - 1)]?.[0] ?? null),
      ArrowDown: () => (chosen = place <= 0 ? null : parts[place - 1][0]),
      Escape: () => (chosen = null), "+": () => zoom(2), "-": () => zoom(0.5),
    }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
    at = Math.max(0, Math.min(order.columns.length - 1, at));
    follow();
    show();
  };
  const clip = (picture, id, H) => {
    picture.append(draw("clipPath", {id}, draw("rect", {x: LEFT, y: 0, width: W - LEFT - right(), height: H})));
    return draw("g", {"clip-path": `url(#${id})`});
  };
  /** Puts a new picture in the place of the old one, which keeps the focus. */
  const replace = (holder, ...nodes) => {
    const focused = holder.contains(document.activeElement);
    holder.replaceChildren(...nodes);
    if (focused) nodes[0].focus();
  };
  const paint_chart = () => {
    const H = narrow() ? 380 : 330, TOP = 22, BOTTOM = 38;
    const y = (bytes) => H - BOTTOM - (H - TOP - BOTTOM) * bytes / highest;
    const picture = draw("svg", {viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: "group", "data-order": 0,
      "aria-label": `Memory over time, ${order.name}; arrow keys move, p goes to the peak, + and - zoom`});
    axis(picture, y, highest);
    const inside = clip(picture, "chart-clip", H);
    append(inside, [draw("g", {class: order.columns.length > 150 ? "dense" : ""}, layers(y))]);
    if (file.columns.length > 0) inside.append(draw("path", {class: "file", d: line_of(file, y)}));
    picture.append(inside);
    const placed = [], gap = result.peak - result.lower_bound;
    if (result.budget !== undefined)
      level(picture, y, result.budget, "budget", `budget ${scaled(result.budget)}`, placed);
    level(picture, y, result.lower_bound, "bound", gap === 0 ? `best = bound ${scaled(result.peak)}` : `bound ${scaled(result.lower_bound)}`, placed);
    if (!narrow()) picture.append(draw("text", {class: "faint", x: W - right() + 6, y: Math.max(12, y(file.peak) - 8)}, `file's order ${scaled(file.peak)}`));
    const top = order.columns[Math.max(order.columns.findIndex((c) => c.step === order.peak_step), 0)];
    const before = top === undefined ? 0 : x_of(top.first) - 5, after = top === undefined ? 0 : x_of(top.first + top.steps) + 5;
    if (top !== undefined && after > LEFT && before < W - right()) {
      let low = 0;
      const rightwards = W - right() - after >= Math.min(190, before - LEFT), room = rightwards ? W - right() - after : before - LEFT;
      const largest = parts_of(top).map(([, bytes]) => bytes).sort((a, b) => b - a)[4] ?? 0;
      for (const [t, bytes] of parts_of(top)) {
        const hidden = narrow() && placed.some((other) => Math.abs(other - 8 - y(low + bytes / 2)) < 16);  // by the words at a line
        if (y(0) - y(bytes) > 15 && bytes >= largest && !hidden)
          picture.append(draw("text", {class: "over", x: rightwards ? after : before, "text-anchor": rightwards ? "start" : "end", y: y(low + bytes / 2) + 4},
            `${short(tensor_name(t), Math.max(4, Math.min(24, Math.floor(room / 7.5) - 11)))}, ${scaled(bytes)}`));
        low += bytes;
      }
    }
    step_axis(picture, H);
    cursor = draw("rect", {class: "cursor", y: TOP, height: H - TOP - BOTTOM, width: 0});
    picture.append(cursor);
    const layer_under = (box, event) => {
      const bytes = highest * (H - BOTTOM - H * (event.clientY - box.top) / box.height) / (H - TOP - BOTTOM);
      let low = 0;
      for (const [t, size] of order.columns[at] === undefined ? [] : parts_of(order.columns[at])) {
        if (bytes >= low && bytes < low + size) return t;
        low += size;
      }
      return null;
    };
    seen = (event) => dragged(picture, event) || look_at(picture, event, layer_under);
    picture.addEventListener("keydown", keys_of);
    replace(chart_holder, picture);
  };
  /** All steps, with the part of them that is in view; none where that is all. */
  const paint_map = () => {
    map_holder.hidden = view[1] - view[0] >= n;
    if (map_holder.hidden) return;
    const H = 36, x = (step) => 1000 * step / n, y = (bytes) => H - H * bytes / highest;
    const outline = order.columns.map((c) => `V${y(c.bytes).toFixed(1)}H${x(c.first + c.steps).toFixed(1)}`).join("");
    map_holder.replaceChildren(draw("svg", {viewBox: `0 0 1000 ${H}`, preserveAspectRatio: "none", "aria-hidden": "true"},
      draw("path", {class: "outline", d: `M0 ${H}${outline}V${H}Z`}),
      draw("rect", {class: "window", x: x(view[0]), y: 0, width: Math.max(x(view[1]) - x(view[0]), 3), height: H})));
  };
  const step_of = (time) => Math.min(Math.floor(time / 2) + 1, n);
  const paint_arena = () => {
    const a = data.arena;
    if (a === undefined || a.error !== undefined) return;
    const H = narrow() ? 380 : 330, TOP = 12, BOTTOM = 8, top = 1.02 * Math.max(a.size, 1);
    const y = (bytes) => H - BOTTOM - (H - TOP - BOTTOM) * bytes / top, x = (time) => x_of(time / 2);
    const picture = draw("svg", {viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: "group", "aria-label": "The arena; arrow keys go through its buffers"});
    axis(picture, y, top);
    const inside = clip(picture, "arena-clip", H), group = draw("g", {});
    const shapes = a.buffers.map((b, i) => {
      let path = `M${x(b.lower)} ${y(b.offset)}V${y(b.offset + b.size)}`;
      for (const [time, size] of b.drops ?? []) path += `H${x(time)}V${y(b.offset + size)}`;
      return draw("path", {class: at_peak.has(b.tensor) ? "layer" : "layer pale", d: path + `H${x(b.upper)}V${y(b.offset)}Z`,
        style: `fill: ${fill(b.tensor)}`, "data-buffer": i, "data-tensor": b.tensor});
    });
    append(group, shapes), inside.append(group), picture.append(inside);
    a.buffers.forEach((b) => {
      const from = Math.max(x(b.lower), LEFT), to = Math.min(x(b.upper), W - right()), wide = to - from;
      const lowest = (b.drops ?? []).reduce((m, [, size]) => Math.min(m, size), b.size);
      if (y(0) - y(lowest) > 15 && wide > 60)
        picture.append(draw("text", {class: "over", x: (from + to) / 2, y: y(b.offset + lowest / 2) + 4, "text-anchor": "middle"}, short(b.name, Math.floor(wide / 7))));
    });
    const placed = [];
    level(picture, y, a.size, "grid", `arena ${scaled(a.size)}`, placed);
    if (a.lower_bound < a.size) level(picture, y, a.lower_bound, "bound", `bound ${scaled(a.lower_bound)}`, placed);
    const words = make("div", {class: "info", "aria-live": "polite"}, paragraph(make("span", {class: "faint"}, "Point at a buffer, tap it, or go there with the arrow keys.")));
    const by_time = a.buffers.map((_, i) => i).sort((i, j) => a.buffers[i].lower - a.buffers[j].lower || a.buffers[i].offset - a.buffers[j].offset);
    let place = -1;
    const show_buffer = (i) => {
      const b = a.buffers[i];
      place = by_time.indexOf(i), chosen = b.tensor === WORKSPACE ? null : b.tensor;
      show();
      mark(b.tensor === WORKSPACE ? null : b.tensor);
      shapes[i].classList.add("on");
      words.replaceChildren(paragraph(strong(bdi(b.name, 80)), `: ${in_words(b.size)} at offset ${grouped(b.offset)}, from step ${grouped(step_of(b.lower))} to ${grouped(step_of(b.upper - 1))}`));
    };
    for (const kind of ["pointerover", "pointerdown"])
      picture.addEventListener(kind, (event) => {
        if (event.target.dataset.buffer !== undefined) show_buffer(Number(event.target.dataset.buffer));
      });
    picture.addEventListener("keydown", (event) => {
      const move = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (move === undefined || by_time.length === 0) return;
      event.preventDefault();
      show_buffer(by_time[Math.max(0, Math.min(by_time.length - 1, place + move))]);
    });
    replace(arena_holder, picture, words);
  };
  const paint = () => {
    W = width();
    choose_colours();
    paint_chart();
    paint_arena();
    for (const node of document.querySelectorAll("[data-colour-of]")) node.style.background = fill(Number(node.dataset.colourOf));
    paint_map();
    const there = new Set(bytes_over_time().map(([key]) => key));
    const entry = (key, colour) => make("span", {}, make("span", {class: "swatch", style: `background: ${colour}`}), bdi(key, 24));
    legend.replaceChildren(...[...colours].filter(([key]) => there.has(key)).map(([key, colour]) => entry(key, colour)),
      ...([...there].some((key) => !colours.has(key)) ? [entry("other", "var(--rest)")] : []), make("span", {}, "line: the file's order"));
    show();
  };
  const memory = () => {
    const by = make("select", {"aria-label": "colour by"}, Object.keys(keys).map((k) => make("option", {value: k}, `colour by ${k}`)));
    by.addEventListener("change", () => (colouring = by.value, paint()));
    const search = make("input", {type: "search", placeholder: "find by name", "aria-label": "find a tensor or an operator by name"});
    const found = make("span", {class: "faint", role: "status"});
    let place = 0;
    /** Goes to a tensor or to the column of an operator whose name holds the text; Enter goes to the next. */
    const seek = () => {
      const told = (text) => clean(text).toLowerCase(), sought = told(search.value);
      const hits = sought === "" ? [] : [
        ...data.tensors.map((x, t) => [x.name, x.lives[0].first, t]), ...(data.unlisted ?? []).map(([name, first]) => [name, first, null]),
        ...order.columns.map((c) => [c.operator, c.first, null])].filter(([name]) => told(name).includes(sought));
      const [name, first, t] = hits[place % Math.max(hits.length, 1)] ?? ["", null, null];
      found.replaceChildren(...(sought === "" ? [] : hits.length === 0 ? ["no such name"]
        : [`${grouped(place % hits.length + 1)} of ${grouped(hits.length)}: `, bdi(name, 32), `, from step ${grouped(first + 1)}`]));
      chosen = t;
      if (first !== null) at = column_at(first), follow();
      show();
    };
    search.addEventListener("input", () => (place = 0, seek()));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") ++place, seek();
    });
    for (const kind of ["pointermove", "pointerdown"]) chart_holder.addEventListener(kind, (event) => seen(event));
    chart_holder.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8);
    }, {passive: false});
    for (const kind of ["pointermove", "pointerdown"])
      map_holder.addEventListener(kind, (event) => {
        const box = map_holder.getBoundingClientRect();
        if (event.buttons !== 0 || kind === "pointerdown") look_around(n * (event.clientX - box.left) / box.width, view[1] - view[0]);
      });
    const columns = n === order.columns.length ? "" : "A column stands for some operators in a row and shows the one that takes the most; around the peak each operator has its own. ";
    append(section("memory"), [make("div", {class: "tools"}, by, search, pressed("−", "zoom out", () => zoom(0.5)), pressed("+", "zoom in", () => zoom(2)),
      pressed("whole", "show all steps", () => look_around(n / 2, n)), found), legend, map_holder, chart_holder, info,
      paragraph(make("span", {class: "faint"}, columns +
        (order.own_layer_from > 0 ? `Tensors below ${scaled(order.own_layer_from)} are one layer of each kind. ` : "") + "Full colours are alive at the peak.")),
      as_data("The chart as a table", "memory.csv", ["order", "step", "operator", "bytes", "steps of the column"],
        () => data.orders.flatMap((o) => o.columns.map((c) => [o.name, c.step + 1, c.operator, c.bytes, c.steps])))]);
    const a = data.arena;
    if (a !== undefined) {
      const here = section("arena");
      here.hidden = false;
      if (a.error !== undefined) here.append(paragraph(a.error));
      else append(here, [paragraph("The arena: ", strong(scaled(a.size)), a.size === a.lower_bound ? " holds all tensors of this order, and no smaller one does."
        : ` holds all tensors of this order; none of less than ${scaled(a.lower_bound)} does.`,
        a.count > a.buffers.length ? ` The ${grouped(a.buffers.length)} largest of ${grouped(a.count)} buffers are drawn.` : "",
        figure("arena", a.size), figure("arena_bound", a.lower_bound)), arena_holder,
      as_data("The arena as a table", "arena.csv", ["buffer", "bytes", "offset", "from step", "to step"],
        () => a.buffers.map((b) => [b.name, b.size, b.offset, step_of(b.lower), step_of(b.upper - 1)]))]);
    }
    paint();
  };

  // The peak.
  const peak = () => {
    const p = data.peak, here = section("peak");
    here.append(p.operator === null ? paragraph("The peak is at the start, before any operator runs.")
      : paragraph("While ", strong(bdi(p.operator, 60)), ` runs, at step ${grouped(p.step + 1)}, ${in_words(p.bytes)} are in use:`));
    const sum = (parts) => parts.reduce((s, part) => s + part.bytes, 0);
    const of_tensor = (f) => ({tensor: t}) => (t === WORKSPACE ? "" : f(t, tensor(t)));
    const maker = of_tensor((t, x) => x.producer ?? "an input");
    const reader = of_tensor((t, x) => (x.stays ? "stays to the end" : x.lives[0].last_reader ?? "no operator"));
    const has_forms = p.parts.some((part) => part.tensor !== WORKSPACE && form_of(part.tensor) !== "");
    const without = (key) => (part) => (part.without === undefined ? "" : result.peak - part.without[key]);
    const best_words = ({without: w}) => (w === undefined ? ""
      : (w.best_order === w.lower_bound ? "" : "at least ") + scaled(result.peak - w.best_order));
    // Title, value to sort by and to write, and cell.
    const columns = [
      {title: "tensor", value: (part) => tensor_name(part.tensor), cell: (part) => make("td", {}, swatch(part.tensor), bdi(tensor_name(part.tensor), narrow() ? 20 : 32))},
      {title: "size", value: (part) => part.bytes, cell: (part) => number(scaled(part.bytes))},
      {title: "of the peak", value: (part) => part.bytes / Math.max(p.bytes, 1), cell: (part) => number(percent(part.bytes, p.bytes))},
      ...(has_forms ? [{title: "type", value: of_tensor((t, x) => x.type ?? "")}, {title: "shape", value: of_tensor(shape_of)}] : []),
      {title: "written by", value: maker, cell: (part) => make("td", {}, bdi(maker(part), 28))},
      {title: "last read by", value: reader, cell: (part) => make("td", {}, bdi(reader(part), 28))},
      {title: "saves, same order", value: without("same_order"), cell: (part) => number(part.without === undefined ? "" : scaled(without("same_order")(part)))},
      ...(data.searched_anew ? [{title: "saves, best order", value: without("best_order"), cell: (part) => number(best_words(part))}] : []),
    ];
    const size = 1, numeric = new Set(["size", "of the peak", "saves, same order", "saves, best order"]);
    const groupings = {
      "kind and size": (part) => `${keys.kind(part.tensor)}, ${scaled(part.bytes)} each`, kind: (part) => keys.kind(part.tensor),
      size: (part) => `${scaled(part.bytes)} each`, scope: (part) => keys.scope(part.tensor), nothing: null,
    };
    let grouping = "kind and size", sorted_by = size, descending = true;
    const body = make("tbody", {}), titles = make("tr", {});
    const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true}));
    const row_of = (part, member) => {
      const t = part.tensor;
      const row = make("tr", {tabindex: 0, "data-tensor": t, class: member ? "member" : ""},
        columns.map((c) => c.cell?.(part) ?? make("td", {}, bdi(c.value(part), 28))));
      for (const kind of ["pointerenter", "focus", "pointerdown"]) row.addEventListener(kind, () => (chosen = t === WORKSPACE ? null : t, show()));
      return row;
    };
    const rest_of_row = () => make("td", {colspan: columns.length - size - 2});
    const rows_of = ([key, parts]) => {
      if (parts.length === 1) return [row_of(parts[0], false)];
      const members = parts.map((part) => row_of(part, true));
      for (const m of members) m.hidden = true;
      const button = pressed("show", "show each", () => {
        const open = members[0].hidden;
        for (const m of members) m.hidden = !open;
        button.textContent = open ? "hide" : "show", button.setAttribute("aria-expanded", String(open));
      });
      button.setAttribute("aria-expanded", "false");
      return [make("tr", {class: "group"}, make("td", {}, swatch(parts[0].tensor), strong(counted(parts.length, "tensor")), " of ", bdi(key), " ", button),
        number(scaled(sum(parts))), number(percent(sum(parts), p.bytes)), rest_of_row()), ...members];
    };
    const fill_table = () => {
      const {value} = columns[sorted_by], sign = descending ? -1 : 1, groups = new Map();
      const parts = [...p.parts].sort((a, b) => sign * compare(value(a), value(b)));
      parts.forEach((part, i) => {
        const key = groupings[grouping] === null ? String(i) : part.tensor === WORKSPACE ? "workspace" : groupings[grouping](part);
        (groups.get(key) ?? groups.set(key, []).get(key)).push(part);
      });
      const listed = [...groups].flatMap(([key, group]) => (group.length > 2 ? [[key, group]] : group.map((part) => [key, [part]])));
      if (sorted_by === size || sorted_by === size + 1) listed.sort((a, b) => sign * (sum(a[1]) - sum(b[1])));
      body.replaceChildren(...listed.flatMap(rows_of));
      if (p.rest_count > 0)
        body.append(make("tr", {}, make("td", {}, `${grouped(p.rest_count)} more`), number(scaled(p.rest)), number(percent(p.rest, p.bytes)), rest_of_row()));
      titles.replaceChildren(...columns.map((c, i) => make("th", {class: numeric.has(c.title) ? "number" : "",
        "aria-sort": i !== sorted_by ? "none" : descending ? "descending" : "ascending"},
        pressed(c.title, `sort by ${c.title}`, () => {
          descending = i === sorted_by ? !descending : typeof c.value(p.parts[0]) === "number";
          sorted_by = i;
          fill_table();
          titles.children[i].firstChild.focus();
        }))));
    };
    const by = make("select", {"aria-label": "group by"}, Object.keys(groupings).map((k) => make("option", {value: k}, `group by ${k}`)));
    by.addEventListener("change", () => (grouping = by.value, fill_table()));
    const file = () => save("peak.csv", "text/csv", csv_of(columns.map((c) => c.title), p.parts.map((part) => columns.map((c) => c.value(part)))));
    fill_table();
    append(here, [make("div", {class: "tools"}, by, pressed("CSV", "save peak.csv", file)),
      make("div", {class: "wide"}, make("table", {}, make("thead", {}, titles), body)),
      make("p", {class: "faint"}, "“Saves” is how much lower the peak would be if a tensor took nothing: in this order, and in the best order " +
        (data.searched_anew ? "found for the graph without it." : "(not searched for so large a graph)."))]);
  };

  // Why.
  const named_list = (places, count) => {
    const list = make("ul", {}, places.map((t) => make("li", {"data-tensor": t}, swatch(t), bdi(tensor_name(t), 60), `, ${scaled(tensor(t).size)}`)));
    if (count > places.length) list.append(make("li", {}, `and ${grouped(count - places.length)} more`));
    return list;
  };
  const reason = () => {
    const r = data.reason, here = section("reason"), proof = data.proof;
    const proven = Math.max(r.bound, proof?.bound ?? 0), gap = result.peak - Math.max(result.lower_bound, proven);
    if (r.operator === null) {
      here.append(paragraph(`What is alive at the start or at the end takes ${in_words(r.bound)} in every order.`));
    } else {
      here.append(paragraph(`${counted(r.together_count, "tensor")} must be in memory together ${r.moment === "before" ? "right before" : "while"} `,
        strong(bdi(r.operator, 60)), ` runs, whatever the order: ${scaled(r.together_bytes)} of the peak's ${scaled(result.peak)}` +
        (r.workspace > 0 ? `, its workspace of ${scaled(r.workspace)} with them` : "") + (r.spared > 0 ? `, less ${scaled(r.spared)} that it may write over` : "") + "."));
      if (r.together.length <= 4) here.append(named_list(r.together, r.together_count));
      else here.append(folded("These tensors", named_list(r.together, r.together_count)));
      const others = r.bound - r.together_bytes;
      if (others > 0)
        here.append(paragraph(`Other tensors take ${scaled(others)} at least by then, the least where ${counted(r.ran, "operator")} have run before: no order takes less than ${in_words(r.bound)}, a minimum cut.`),
          folded("The tensors then", named_list(r.cheapest, r.cheapest_count)));
    }
    if (proof !== undefined && proof.bound > r.bound) {
      const list = make("ol", {}, proof.steps.map((s) => make("li", {}, ...(s.other === null
        ? ["cannot run ", bdi(s.operator), ` at all: ${scaled(s.level)} would be in use at least.`]
        : ["must run ", bdi(s.first ? s.operator : s.other), " before ", bdi(s.first ? s.other : s.operator), `: else ${scaled(s.level)} would be in use at least when `, bdi(s.operator), " runs;"]))));
      here.append(paragraph(`Cuts that build upon each other prove ${in_words(proof.bound)}.`));
      if (proof.count > 0)
        here.append(folded(`${counted(proof.count, "step")}: an order below that`, list, proof.count > proof.steps.length ? paragraph("and so on; `memsched schedule --certificate` writes all.") : null));
      if (proof.sets !== undefined)
        here.append(paragraph(`Such an order would always be within one of ${grouped(proof.sets)} sets of operators that have run, from none of which it gets out below that.`));
    }
    if (result.lower_bound > proven)
      here.append(paragraph(`The stage “${result.bound_by}” of the search proved ${in_words(result.lower_bound)}.`));
    if (gap === 0) here.append(paragraph(strong("The order found takes just that: none takes less.")));
    else here.append(paragraph(`The order found takes ${in_words(result.peak)}. Whether one takes ${scaled(gap)} less is open: the search ended by ${result.stopped.replace("_", " ")}; the bound is of the stage “${result.bound_by}”. `,
      "More time (", make("code", {}, "--time-limit 300"), ") or threads (", make("code", {}, "--threads 4"), ") may close the gap."));
  };

  section("json").addEventListener("click", () => save("report.json", "application/json", JSON.stringify(data)));
  section("theme").addEventListener("click", () => {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme ?? (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
  addEventListener("resize", () => {
    if (width() !== W) paint();
  });
  addEventListener("beforeprint", () => (on_paper = true, paint()));
  addEventListener("afterprint", () => (on_paper = false, paint()));
  choose_colours();
  for (const part of [head, verdict, choices, memory, peak, reason]) part();
})();
