"""Looks at pages of `memsched report` in headless Chromium: nothing on its console, figures in the DOM that equal the result's
JSON, areas that equal bytes, keyboard and mouse, nothing fetched.

usage: check.py PROGRAM [FOLDER]; screenshots, light and dark, go to FOLDER
"""

import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

CASES = [  # name, graph, options, most bytes of the page
    ("ten", None, [], 200_000),
    ("model", "convolution.onnx", ["--offsets"], 300_000),
    ("budget", "convolution.onnx", ["--budget", "1000"], 300_000),
    ("hundreds", "builtin:nasnet-cifar", ["--offsets", "--budget", "1M"], 2_000_000),
    ("random", "builtin:layered:63:8", ["--firing", "cbp", "--time-limit", "2"], 2_000_000),
    ("thousands", "builtin:layered:2500:8", ["--time-limit", "10"], 4_000_000),
    ("most", "builtin:layered:12500:8", ["--time-limit", "10", "--offsets"], 4_000_000),
]

# Ten operators with names that are markup, and one that ends a script.
TEN = {
    "name": "ten <b>&amp;</b>",
    "ops": [{"name": f"op{i} </script><i>", "inputs": [i] if i < 3 else [i, i - 2], "outputs": [i + 1],
             "workspace": 100 * (i == 4), "inplace": 0 if i == 7 else -1} for i in range(10)],
    "tensors": [{"name": f"t{i} \u202e{{{{data}}}}", "bytes": 1024 * (1 + i % 4)} for i in range(11)],
    "graph_inputs": [0],
    "graph_outputs": [10],
}

PROBE = """
<script>
(() => {
  const told = {errors: []};
  const charts = [...document.querySelectorAll("#memory svg")];
  told.charts = charts.length;
  const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  const info = (k) => document.querySelectorAll("#memory .info")[k].textContent;
  charts[0].focus();
  told.focus = document.activeElement === charts[0];
  told.peak = info(0);
  press(charts[0], "Home"), told.home = info(0);
  press(charts[0], "ArrowRight"), told.right = info(0);
  press(charts[0], "End"), told.end = info(0);
  press(charts[0], "p"), press(charts[0], "ArrowUp"), told.layer = info(0);
  told.marked = document.querySelectorAll("#memory .layer.on").length;
  press(charts[0], "Escape"), told.escaped = document.querySelectorAll("#memory .layer.on").length;
  const box = charts[0].getBoundingClientRect();
  const touch = (kind) => charts[0].dispatchEvent(new PointerEvent(kind, {bubbles: true, clientX: box.left + box.width * 0.3,
                                                                          clientY: box.top + box.height * 0.87}));
  touch("pointermove"), told.pointed = info(0);
  press(charts[0], "Escape"), touch("pointerdown"), told.tapped = info(0);
  const shown = () => document.querySelector("#memory svg .layer").getAttribute("d");
  const whole = shown();
  press(document.querySelector("#memory svg"), "+"), told.zoomed = shown() !== whole;
  press(document.querySelector("#memory svg"), "-");
  for (const node of document.querySelectorAll("#memory .layer"))
    for (const other of document.querySelectorAll(`#arena .layer[data-tensor="${node.dataset.tensor}"]`))
      told.same_colour = (told.same_colour ?? true) && other.style.fill === node.style.fill;
  const search = document.querySelector("#memory input");
  const some = [...document.querySelectorAll("#peak tbody tr[data-tensor] bdi")].find((x) => x.title !== "workspace");
  if (some) search.value = some.title, search.dispatchEvent(new Event("input")), told.found = info(0);
  told.cells = [...document.querySelectorAll("td, th")].every((c) => c.hidden || c.offsetParent === null || c.clientWidth >= 8);
  told.bare = [...document.querySelectorAll("#peak td, #reason li")].some((x) => /[\u202a-\u202e\u2066-\u2069]/.test(x.textContent));
  told.verdict = document.getElementById("verdict").textContent;
  const row = document.querySelector("#peak tbody tr");
  row.focus(), told.row = row.classList.contains("on");
  const paper = () => getComputedStyle(document.body).backgroundColor;
  told.before = paper(), document.getElementById("theme").click(), told.after = paper();
  const arena = document.querySelector("#arena svg");
  if (arena !== null) press(arena, "ArrowRight"), told.buffer = document.querySelector("#arena .info").textContent;
  told.wide = document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  const answer = document.createElement("pre");
  answer.id = "told", answer.textContent = JSON.stringify(told);
  document.body.append(answer);
})();
</script>
"""

failures = passed = 0


def check(what, holds):
    global failures, passed
    if holds:
        passed += 1
    else:
        failures += 1
        print("FAILED:", what)


class Page(html.parser.HTMLParser):
    """What a browser made of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.figures, self.layers, self.text, self.told, self.data, self.inside = {}, {}, [], None, "", None
        self.order = None
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.inside = a.get("id") if tag in ("pre", "script") else tag
        if "data-figure" in a:
            self.figures[a["data-figure"]] = int(a["data-value"])
            self.inside = "figure:" + a["data-figure"]
        if "data-order" in a:
            self.order = int(a["data-order"])
        if tag == "path" and a.get("class", "").startswith("layer") and "data-tensor" in a and self.order is not None:
            self.layers.setdefault(self.order, []).append(a["d"])
        self.links += [a[k] for k in ("src", "href") if a.get(k)]

    def handle_endtag(self, tag):
        if tag == "svg":
            self.order = None
        self.inside = None

    def handle_data(self, text):
        if self.inside == "told":
            self.told = json.loads(text)
        elif self.inside == "data":
            self.data += text
        elif self.inside and self.inside.startswith("figure:"):
            check("a figure is what it shows", int(text.replace(",", "")) == self.figures[self.inside[7:]])
        self.text.append(text)


def area(path):
    """Of the rectilinear pieces of a path."""
    total = 0.0
    for piece in filter(None, path.split("M")):
        points = []
        x = y = 0.0
        for kind, numbers in re.findall(r"([ VHZ]?)([-0-9. ]*)", piece):
            values = [float(n) for n in numbers.split()]
            if len(values) == 2:
                x, y = values
            elif kind == "V":
                y = values[0]
            elif kind == "H":
                x = values[0]
            else:
                continue
            points.append((x, y))
        total += abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1]))) / 2
    return total


def browse(browser, url, *options):
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--hide-scrollbars",
                               "--disable-background-networking", "--disable-component-update", "--disable-sync",
                               f"--user-data-dir={profile}", "--virtual-time-budget=20000", *options, url],
                              capture_output=True, text=True, timeout=300)


def look(name, data, page, result):
    """The data of a page against itself and against the result of `schedule`."""
    r = data["result"]
    for key in ("peak", "lower_bound", "given_peak"):
        check(f"{name}: {key} in the page is that of the result", page.figures[key] == r[key])
        if result["stopped"] == "finished":
            check(f"{name}: {key} is that of `schedule`", r[key] == result[key])
    for order in data["orders"]:
        for c in order["columns"]:
            parts = [p[1] if isinstance(p, list) else data["tensors"][p]["size"] for p in c["parts"]]
            check(f"{name}: the parts of a column sum up", sum(parts) + c["rest"] == c["bytes"])
        check(f"{name}: a column for each step, or for some in a row",
              sum(c["steps"] for c in order["columns"]) == order["steps"] == data["operators"])
        check(f"{name}: the highest column is the peak", max(c["bytes"] for c in order["columns"]) == order["peak"])
    check(f"{name}: orders have the result's peaks", [o["peak"] for o in data["orders"]] == [r["peak"], r["given_peak"]])
    peak = data["peak"]
    listed = {data["tensors"][p["tensor"]]["id"] for p in peak["parts"] if p["tensor"] >= 0}
    check(f"{name}: what is listed at the peak is live there", listed <= set(r["live_at_peak"]))
    check(f"{name}: the parts of the peak sum up", sum(p["bytes"] for p in peak["parts"]) + peak["rest"] == r["peak"])
    for part in peak["parts"]:
        w = part.get("without")
        if w:
            check(f"{name}: savings are in order", w["lower_bound"] <= w["best_order"] <= w["same_order"])
            check(f"{name}: nobody saves more than a tensor takes",
                  r["peak"] - w["same_order"] <= data["tensors"][part["tensor"]]["size"])
    why = data["reason"]
    if why["operator"] is not None:
        check(f"{name}: what must be together is at most the bound, that at most the peak",
              why["together_bytes"] <= why["bound"] <= r["peak"])
        if why["together_count"] == len(why["together"]):
            sizes = sum(data["tensors"][t]["size"] for t in why["together"])
            check(f"{name}: what must be together sums up", sizes + why["workspace"] - why["spared"] <= why["together_bytes"] <= sizes + why["workspace"])
        check(f"{name}: the reason is told in words", why["operator"] in "".join(page.text))
    heights = 330 - 22 - 38  # of the plot, in units of the drawing
    highest = 1.04 * max(1, r["lower_bound"], r.get("budget", 0), *(o["peak"] for o in data["orders"]))
    for k, order in enumerate(data["orders"][:1]):
        width = (1000 - 76 - 150) / max(order["steps"], 1)
        wanted = sum(c["bytes"] * c["steps"] for c in order["columns"]) * width * heights / highest
        drawn = sum(area(path) for path in page.layers.get(k, []))
        check(f"{name}: areas of order {k} are bytes: {drawn:.0f}, {wanted:.0f}", abs(drawn - wanted) <= 0.01 * wanted + 20)
    if name == "model":
        rows = data["choices"]["rows"]
        check("model: a rewrite pays", rows[-1]["peak"] < r["peak"] and "memsched rewrite" in rows[-1]["command"])
    rows = data["choices"]["rows"]
    check(f"{name}: at most ten choices, peaks fall", len(rows) <= 10 and all(a["peak"] >= b["peak"] for a, b in zip(rows[1:], rows[2:])))
    check(f"{name}: the input has a name, a version and a command", data["input"]["command"].startswith("memsched report "))
    if "arena" in data and "error" not in data["arena"]:
        a = data["arena"]
        check(f"{name}: the arena holds all", all(b["offset"] + b["size"] <= a["size"] for b in a["buffers"]))
        check(f"{name}: the arena's figures", (page.figures["arena"], page.figures["arena_bound"]) == (a["size"], a["lower_bound"]))
        check(f"{name}: no arena below the peak", a["size"] >= r["peak"])


def touch(name, data, told):
    """What keyboard and mouse did."""
    check(f"{name}: the probe ran", told is not None)
    if told is None:
        return
    steps = data["orders"][0]["steps"]
    check(f"{name}: a chart takes the focus", told["focus"])
    check(f"{name}: it starts at the peak", "the peak" in told["peak"])
    check(f"{name}: keys move", told["home"] != told["right"] and f"of {steps:,}" in told["end"])
    check(f"{name}: a key chooses a layer: {told['layer']}", told["marked"] >= 1 and "bytes" in told["layer"])
    check(f"{name}: and leaves it", told["escaped"] == 0)
    check(f"{name}: the mouse shows a layer: {told['pointed']}", told["pointed"].count("bytes") >= 2)
    check(f"{name}: one chart", told["charts"] == 1)
    check(f"{name}: a tap shows a layer: {told['tapped']}", told["tapped"].count("bytes") >= 2)
    check(f"{name}: a key zooms", told["zoomed"] or steps <= 8)
    check(f"{name}: a tensor has one colour", told.get("same_colour", True))
    check(f"{name}: a tensor is found: {told.get('found')}", "found" not in told or told["found"].count("step") >= 2)
    check(f"{name}: no cell is a letter wide", told["cells"])
    check(f"{name}: no name turns the text around", not told["bare"])
    budget = data["result"].get("budget")
    check(f"{name}: the verdict names the budget: {told['verdict'][:200]}",
          budget is None or ("Fits" if data["result"]["peak"] <= budget else "Does not fit") in told["verdict"])
    check(f"{name}: a row of the table marks its tensor", told["row"])
    check(f"{name}: light and dark", told["before"] != told["after"])
    check(f"{name}: the page is no wider than the window", told["wide"])
    if "arena" in data:
        check(f"{name}: keys go through the arena", "offset" in told["buffer"])


def main():
    program, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("check.py: there is no Chromium")
    with tempfile.TemporaryDirectory() as work:
        for name, graph, options, most in CASES:
            if graph is None:
                graph = os.path.join(work, "ten.json")
                with open(graph, "w", encoding="utf-8") as f:
                    json.dump(TEN, f)
            elif not graph.startswith("builtin:"):
                graph = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/corpus/onnx", graph)
            path = os.path.join(work, name + ".html")
            made = subprocess.run([program, "report", graph, "-o", path, *options], capture_output=True, text=True)
            check(f"{name}: made: {made.stderr}", made.returncode == (3 if "--budget" in options else 0) and made.stderr == "")
            if not os.path.exists(path):
                continue
            with open(path, encoding="utf-8") as f:
                text = f.read()
            check(f"{name}: {len(text)} bytes", len(text) <= most)
            probed = os.path.join(work, name + "_probed.html")
            with open(probed, "w", encoding="utf-8") as f:
                f.write(text.replace("</body>", PROBE + "</body>"))
            seen = browse(browser, "file://" + probed, "--dump-dom")
            said = [line for line in seen.stderr.splitlines() if "CONSOLE" in line]
            check(f"{name}: nothing on the console: {said}", not said)
            page = Page(seen.stdout)
            data = json.loads(page.data)
            check(f"{name}: nothing is fetched: {page.links}", all(link.startswith("data:") for link in page.links))
            check(f"{name}: no markup of names", "<i>" not in seen.stdout and "<b>" not in seen.stdout)
            scheduled = [o for i, o in enumerate(options) if "--offsets" not in o and "--budget" not in options[max(i - 1, 0):i + 1]]
            if "--time-limit" not in scheduled:
                scheduled += ["--time-limit", "10"]
            result = json.loads(subprocess.run([program, "schedule", graph, "--format", "json", *scheduled],
                                               capture_output=True, text=True).stdout)
            look(name, data, page, result)
            touch(name, data, page.told)
            if folder:
                for theme in ("light", "dark"):
                    shot = os.path.join(folder, f"{name}_{theme}.png")
                    themed = os.path.join(work, "themed.html")
                    with open(themed, "w", encoding="utf-8") as f:
                        f.write(text.replace("<html lang", f'<html data-theme="{theme}" lang'))
                    browse(browser, "file://" + themed, f"--screenshot={shot}", "--window-size=1200,2600")
                shot = os.path.join(folder, f"{name}_phone.png")
                browse(browser, "file://" + path, f"--screenshot={shot}", "--window-size=500,2600")
    print(f"{passed} passed, {failures} failed")
    sys.exit(1 if failures else 0)


main()
