// Questions that check.py asks a page or a drawing.
"use strict";
const probes = (() => {
  const shown = (node) => node.checkVisibility?.({visibilityProperty: true}) !== false && node.getClientRects().length > 0;

  // Colours.
  const canvas = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas").getContext("2d", {willReadFrequently: true});
  const parsed = new Map();
  /** A colour as red, green, blue, and opacity from 0 to 1. */
  const rgba = (text) => {
    if (!parsed.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = "#000", canvas.fillStyle = text, canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      parsed.set(text, [r, g, b, a / 255]);
    }
    return parsed.get(text);
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((c, i) => a * c + (1 - a) * below[i]);
  const luminance = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  /** The colour behind an element of HTML. */
  const paper = (node) => {
    for (const layers = []; ; node = node.parentElement) {
      const colour = node === null ? [255, 255, 255, 1] : rgba(getComputedStyle(node).backgroundColor);
      layers.push(colour);
      if (colour[3] === 1) return layers.reduceRight((below, layer) => over(layer, below));
    }
  };
  /** The colours that may be behind a text of a picture: its halo, or whatever is painted under points of it. */
  const grounds = (text) => {
    const style = getComputedStyle(text);
    if (style.paintOrder.startsWith("stroke") && parseFloat(style.strokeWidth) >= 2) return [rgba(style.stroke)];
    const root = text.ownerSVGElement, html = root.closest("body");
    const base = html === null ? [255, 255, 255] : paper(root.parentElement);
    const box = text.getBoundingClientRect(), found = [];
    for (const share of [0.05, 0.5, 0.95]) {
      const x = box.left + box.width * share, y = box.top + box.height / 2;
      let colour = base;
      for (const shape of root.querySelectorAll("rect, path, circle")) {
        if (shape.closest("defs, clipPath") !== null) continue;
        const s = getComputedStyle(shape), fill = s.fill === "none" ? [0, 0, 0, 0] : s.fill.startsWith("url") ? null : rgba(s.fill);
        if (fill === null || fill[3] === 0) continue;
        const at = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
        if (shape.isPointInFill(at)) colour = over([...fill.slice(0, 3), fill[3] * parseFloat(s.fillOpacity)], colour);
      }
      found.push(colour);
    }
    return found;
  };
  /** The text with the least contrast. */
  const contrast = () => {
    let worst = {ratio: 99, text: ""};
    const judge = (colour, ground, text) => {
      const r = ratio(over(colour, ground), ground);
      if (r < worst.ratio) worst = {ratio: r, text: text.slice(0, 60)};
    };
    for (const text of document.querySelectorAll("svg text"))
      if (shown(text) && text.textContent.trim() !== "")
        for (const ground of grounds(text)) judge(rgba(getComputedStyle(text).fill), ground, text.textContent);
    if (document.body === null || document.body === undefined) return worst;
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
      const parent = node.parentElement;
      if (node.data.trim() === "" || parent.closest("svg, script, style, .hidden, option") !== null || !shown(parent)) continue;
      judge(rgba(getComputedStyle(parent).color), paper(parent), node.data);
    }
    return worst;
  };

  // Room.
  /** Words of tables that are broken or cut. */
  const broken_words = () => {
    const broken = [];
    for (const cell of document.querySelectorAll("td, th")) {
      if (!shown(cell)) continue;
      const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node !== null; node = walk.nextNode())
        for (const {0: word, index} of node.data.matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(node, index), range.setEnd(node, index + word.length);
          const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
          if (lines.size > 1) broken.push(word);
        }
      if (cell.scrollWidth > cell.clientWidth + 1) broken.push(cell.textContent);
      for (const part of cell.querySelectorAll("code, bdi"))
        if (part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0 && part.title === "") broken.push(part.textContent);
    }
    return broken.slice(0, 5);
  };
  const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  /** Texts of a drawing that leave it. */
  const cut_texts = () => [...document.querySelectorAll("svg")].flatMap((root) => [...root.querySelectorAll("text")].filter((t) => {
    const b = t.getBBox(), v = root.viewBox.baseVal;
    return t.textContent !== "" && (b.x < v.x - 1 || b.y < v.y - 1 || b.x + b.width > v.x + v.width + 1 || b.y + b.height > v.y + v.height + 1);
  })).map((t) => t.textContent).slice(0, 5);
  /** Words at the axes of a picture that lie over each other. */
  const overlaps = () => [...document.querySelectorAll("svg")].flatMap((root) => {
    const boxes = [...root.querySelectorAll("text.faint")].map((t) => [t.textContent, t.getBBox()]);
    return boxes.filter(([, a], i) => boxes.slice(0, i).some(([, b]) =>
      a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width && a.y + 5 < b.y + b.height && b.y + 5 < a.y + a.height)).map(([text]) => text);
  }).slice(0, 5);
  const open_all = () => {
    for (const d of document.querySelectorAll("details")) d.open = true;
    return new Promise((done) => setTimeout(done, 50));
  };

  // The parts of the page that are shown.
  const interactive = () => [...document.querySelectorAll("button, input, select, .info, .cursor, .map, .tools, summary")]
    .filter((node) => shown(node) && node.closest("th, .hidden, details[open]") === null).map((node) => node.outerHTML.slice(0, 80));
  const charts = () => [...document.querySelectorAll("#memory svg")].filter(shown).length;
  /** A point of the window within the layer of a tensor that a chart shows; null where there is none. */
  const point_of = (where, t) => {
    const path = document.querySelector(`${where} svg .layer[data-tensor="${t}"]`);
    if (path === null) return null;
    path.ownerSVGElement.scrollIntoView({block: "center"});
    const box = path.getBoundingClientRect(), into = path.getScreenCTM().inverse();
    for (const down of [0.5, 0.3, 0.7, 0.15, 0.85])
      for (let k = 1; k < 40; ++k) {
        const x = box.left + box.width * k / 40, y = box.top + box.height * down;
        if (path.isPointInFill(new DOMPoint(x, y).matrixTransform(into)) && document.elementFromPoint(x, y) === path) return [x, y];
      }
    return null;
  };
  const middle = (selector) => {
    const node = typeof selector === "string" ? document.querySelector(selector) : selector;
    node.scrollIntoView({block: "center"});
    const b = node.getBoundingClientRect();
    return [b.left + b.width / 2, b.top + b.height / 2];
  };
  const button = (text, where = "body") => middle([...document.querySelectorAll(`${where} button`)].find((b) => b.textContent === text && shown(b)));
  const info = (where = "#memory") => document.querySelector(`${where} .info`).textContent;
  /** Which parts of the page mark a tensor. */
  const marked = (t) => ["#memory .layer", "#arena .layer", "#peak tr"].filter((where) => document.querySelector(`${where}.on[data-tensor="${t}"]`) !== null);
  const figures = () => Object.fromEntries([...document.querySelectorAll("[data-figure]")].map((node) =>
    [node.dataset.figure, [Number(node.dataset.value), Number(node.textContent.replaceAll(",", ""))]]));
  const layers = () => [...document.querySelectorAll("#memory svg .layer")].map((node) => node.getAttribute("d"));
  const view_box = () => document.querySelector("#memory .chart svg").getAttribute("viewBox").split(" ").map(Number);
  const colours_agree = () => [...document.querySelectorAll("#memory .layer")].every((node) =>
    [...document.querySelectorAll(`#arena .layer[data-tensor="${node.dataset.tensor}"]`)].every((other) => other.style.fill === node.style.fill));
  return {contrast, broken_words, overflow, cut_texts, overlaps, open_all, interactive, charts, point_of, middle, button, info, marked, figures, layers,
          view_box, colours_agree};
})();
