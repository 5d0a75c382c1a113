"""Looks at pages and drawings of memsched in headless Chromium: figures in the page that equal the result's JSON, areas that
equal bytes, keyboard, mouse and touch, room and contrast at three widths in light and dark, print, nothing fetched.

usage: check.py PROGRAM [FOLDER]; pictures of all go to FOLDER
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from browser import Browser

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "../fuzz/corpus")
WIDTHS = [1400, 800, 390]
CASES = [  # name, graph, options, most bytes of the page
    ("ten", None, [], 200_000),
    ("names", "NAMES", ["--budget", "9K"], 200_000),
    ("model", "convolution.onnx", ["--offsets"], 300_000),
    ("budget", "convolution.onnx", ["--budget", "1000"], 300_000),
    ("hundreds", "builtin:nasnet-cifar", ["--offsets", "--budget", "1M"], 2_000_000),
    ("random", "builtin:layered:63:8", ["--firing", "cbp", "--time-limit", "2"], 2_000_000),
    ("thousands", "builtin:layered:2500:8", ["--time-limit", "10"], 4_000_000),
    ("most", "builtin:layered:12500:8", ["--time-limit", "10", "--offsets"], 4_000_000),
]

DATAFLOW = [("dataflow", "sized.xml", [])]

DRAWINGS = [  # name, command but for the file
    ("memory", ["schedule", "builtin:nasnet-cifar", "--time-limit", "5", "--svg"]),
    ("arena", ["plan", "builtin:swiftnet-cell-a", "--svg"]),
    ("rewritten", ["rewrite", "CORPUS/onnx/convolution.onnx", "--svg"]),
    ("front", ["rewrite", "CORPUS/onnx/convolution.onnx", "--front-svg"]),
    ("sample", ["sample", "builtin:swiftnet-cell-a", "--count", "500", "--svg"]),
    ("tokens", ["schedule", "CORPUS/sdf3/sized.xml", "--svg"]),
    ("curve", ["recompute", "builtin:swiftnet-cell-a", "--curve", "5", "--time-limit", "5", "--svg"]),
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

# Long names with a common start and end, of fused operators, as converters make them.
def name_of(i):
    return (f"model/pose_landmark_heavy/block_{i // 9}/batch_normalization_{i}/FusedBatchNormV3;"
            f"model/block_{i // 9}/conv2d_{i}/BiasAdd/ReadVariableOp;model/conv2d_{i}/Conv2D")


NAMES = {
    "name": "names",
    "ops": [{"name": f"model/pose_landmark_heavy/block_{i // 9}/depthwise_conv2d_{i}/depthwise", "inputs": [i] if i < 6 else [i, i - 6],
             "outputs": [i + 1]} for i in range(60)],
    "tensors": [{"name": name_of(i), "bytes": 1024 * (1 + i % 3), "type": "float32", "shape": [1, 16, 16 * (1 + i % 3)]} for i in range(61)],
    "graph_inputs": [0],
    "graph_outputs": [60],
}
GRAPHS = {None: TEN, "NAMES": NAMES}

failures = passed = 0


def check(what, holds):
    global failures, passed
    if holds:
        passed += 1
    else:
        failures += 1
        print("FAILED:", what)


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


def look(name, data, browser, result):
    """The data of a page against itself and against the result of `schedule`."""
    r = data["result"]
    figures, words = browser.run("probes.figures()"), browser.run("document.body.textContent")
    check(f"{name}: a figure is what it shows", all(value == shown for value, shown in figures.values()))
    for key in ("peak", "lower_bound", "given_peak"):
        check(f"{name}: {key} in the page is that of the result", figures[key][0] == r[key])
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
            check(f"{name}: nothing saves more than a tensor takes",
                  r["peak"] - w["same_order"] <= data["tensors"][part["tensor"]]["size"])
    why = data["reason"]
    if why["operator"] is not None:
        check(f"{name}: what must be together is at most the bound, that at most the peak",
              why["together_bytes"] <= why["bound"] <= r["peak"])
        if why["together_count"] == len(why["together"]):
            sizes = sum(data["tensors"][t]["size"] for t in why["together"])
            check(f"{name}: what must be together sums up", sizes + why["workspace"] - why["spared"] <= why["together_bytes"] <= sizes + why["workspace"])
        check(f"{name}: the reason is told in words", why["operator"] in words)
    heights = 330 - 22 - 38  # of the plot, in units of the drawing
    highest = 1.04 * max(1, r["lower_bound"], r.get("budget", 0), *(o["peak"] for o in data["orders"]))
    for k, order in enumerate(data["orders"][:1]):
        width = (browser.run("probes.view_box()")[2] - 76 - 160) / max(order["steps"], 1)
        wanted = sum(c["bytes"] * c["steps"] for c in order["columns"]) * width * heights / highest
        drawn = sum(area(path) for path in browser.run("probes.layers()"))
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
        check(f"{name}: the arena's figures", (figures["arena"][0], figures["arena_bound"][0]) == (a["size"], a["lower_bound"]))
        check(f"{name}: no arena below the peak", a["size"] >= r["peak"])


def keys_and_mouse(name, data, browser):
    """Tests keys and the mouse on a page."""
    run = browser.run
    steps = data["orders"][0]["steps"]
    check(f"{name}: one chart", run("probes.charts()") == 1)
    run("document.querySelector('#memory .chart svg').focus()")
    check(f"{name}: it starts at the peak: {run('probes.info()')}", "the peak" in run("probes.info()"))
    browser.key("Home")
    home = run("probes.info()")
    browser.key("ArrowRight")
    check(f"{name}: keys move", home != run("probes.info()"))
    browser.key("End")
    check(f"{name}: to the end", f"of {steps:,}" in run("probes.info()"))
    browser.key("p"), browser.key("ArrowUp")
    check(f"{name}: a key chooses a layer", run("document.querySelectorAll('#memory .layer.on').length") == 1 and "bytes" in run("probes.info()"))
    browser.key("Escape")
    check(f"{name}: and leaves it", run("document.querySelectorAll('.layer.on').length") == 0)
    check(f"{name}: a tensor has one colour", run("probes.colours_agree()"))
    hover(name, data, browser)
    zoom_and_pan(name, steps, browser)
    search(name, data, browser)
    sort_and_group(name, data, browser)
    check(f"{name}: no name turns the text around", not re.search("[\u202a-\u202e\u2066-\u2069]", run("document.querySelector('main').innerText")))
    tried = "steps" in data["choices"]
    check(f"{name}: it says that rewrites were tried only where they were", tried or "that was tried" not in run("document.querySelector('main').innerText"))
    verdict, budget = run("document.getElementById('verdict').textContent"), data["result"].get("budget")
    check(f"{name}: the verdict names the budget: {verdict[:200]}",
          budget is None or ("Fits" if data["result"]["peak"] <= budget else "Does not fit") in verdict)
    if "arena" in data:
        run("document.querySelector('#arena svg').focus()")
        browser.key("ArrowRight")
        check(f"{name}: keys go through the arena", "offset" in run("probes.info('#arena')"))
    paper = run("getComputedStyle(document.body).backgroundColor")
    run("document.getElementById('theme').click()")
    check(f"{name}: the button changes light and dark", paper != run("getComputedStyle(document.body).backgroundColor"))
    run("document.getElementById('theme').click()")


def hover(name, data, browser):
    """A tensor that the mouse points at is marked in chart, arena and table."""
    drawn = [p["tensor"] for p in data["peak"]["parts"] if p["tensor"] >= 0]
    in_arena = {b["tensor"] for b in data.get("arena", {}).get("buffers", [])}
    linked, tried = False, None
    for t in drawn[:20]:
        at = browser.run(f"probes.point_of('#memory .chart', {t})")
        if at is None:
            continue
        browser.mouse("mouseMoved", *at)
        tried = browser.run(f"probes.marked({t})"), browser.run("probes.info()")
        linked = {"#memory .layer", "#peak tr"} <= set(tried[0]) and ("#arena .layer" in tried[0]) == (t in in_arena) and tried[1].count("bytes") >= 2
        if linked:  # else a column may be narrower than a pixel, and its neighbour was hit
            break
    check(f"{name}: the mouse marks a tensor everywhere and tells of it: {tried}", linked or tried is None)
    check(f"{name}: a tensor can be pointed at", tried is not None or not drawn or data["orders"][0]["own_layer_from"] > 1)
    for t in drawn[:20]:
        at = browser.run(f"probes.point_of('#arena', {t})") if t in in_arena else None
        if at is not None:
            browser.mouse("mouseMoved", *at)
            check(f"{name}: so it does in the arena", "#memory .layer" in browser.run(f"probes.marked({t})"))
            return


def zoom_and_pan(name, steps, browser):
    run = browser.run
    if steps <= 8:
        return
    whole = run("probes.layers()")
    for _ in range(2):
        browser.click(*run("probes.button('+', '#memory')"))
    near = run("probes.layers()")
    check(f"{name}: a button zooms", sorted(near) != sorted(whole))
    check(f"{name}: a map shows where", run("document.querySelector('.map').checkVisibility()"))
    x, y = run("probes.middle('#memory .chart svg')")
    browser.drag((x, y), (x + 120, y))
    moved = sorted(run("probes.layers()"))
    browser.drag((x, y), (x - 120, y))
    check(f"{name}: a drag moves the part shown", moved != sorted(near) or sorted(run("probes.layers()")) != moved)
    x, y = run("probes.middle('.map svg')")
    browser.click(x - 300, y)
    left = sorted(run("probes.layers()"))
    browser.click(x + 300, y)
    check(f"{name}: the map moves it", left != sorted(run("probes.layers()")))
    run("document.querySelector('#memory .chart svg').focus()")
    browser.key("Home")
    check(f"{name}: it follows the keys, which keep the focus", run("document.activeElement.matches('#memory .chart svg')")
          and run("[...document.querySelectorAll('#memory .chart svg text')].some((t) => t.textContent === '1')"))
    before = sorted(run("probes.layers()"))
    browser.key("+", "+")
    check(f"{name}: a key zooms and keeps the focus", run("document.activeElement.matches('#memory .chart svg')")
          and (sorted(run("probes.layers()")) != before or steps <= 32))
    browser.click(*run("probes.button('whole', '#memory')"))
    check(f"{name}: and back", sorted(run("probes.layers()")) == sorted(whole))
    check(f"{name}: without a map", not run("document.querySelector('.map').checkVisibility()"))


def search(name, data, browser):
    """Any tensor is found by its name; a name that no tensor has is not."""
    run = browser.run
    names = [x["name"] for x in data["tensors"]][:1] + [x[0] for x in data["unlisted"]][-1:]
    for sought in names + ["no such name, really"]:
        run("document.querySelector('#memory input').focus(), document.querySelector('#memory input').select()")
        browser.type(re.sub("[\u202a-\u202e\u2066-\u2069]", "", sought))
        found = run("document.querySelector('#memory [role=status]').textContent")
        check(f"{name}: '{sought}' is {'found' if sought in names else 'not found'}: {found}",
              " of " in found and "from step" in found if sought in names else found == "no such name")
    run("document.querySelector('#memory input').select()")
    browser.key("Backspace")


def sort_and_group(name, data, browser):
    run = browser.run
    parts = data["peak"]["parts"]
    if len(parts) < 3:
        return
    forms = any(x.get("type") or x.get("shape") for x in (data["tensors"][p["tensor"]] for p in parts if p["tensor"] >= 0))
    titles = run("[...document.querySelectorAll('#peak th')].map((t) => t.innerText)")
    check(f"{name}: type and shape are columns where they are known: {titles}", ("shape" in " ".join(titles)) == forms)
    group = "(g) => { const s = document.querySelector('#peak select'); s.value = g; s.dispatchEvent(new Event('change')); }"
    rows = "[...document.querySelectorAll('#peak tbody tr[data-tensor]')].map((r) => Number(r.dataset.tensor))"
    run(f"({group})('nothing')")
    wanted = [p["tensor"] for p in parts]
    check(f"{name}: each tensor has a row", sorted(run(rows)) == sorted(wanted))
    shown = run("[...document.querySelectorAll('#peak tbody tr[data-tensor] td:first-child')].map((c) => c.innerText)")
    names = {data["tensors"][p["tensor"]]["name"] if p["tensor"] >= 0 else "workspace" for p in parts}
    check(f"{name}: names that differ look different: {shown}", len(set(shown)) == len(names))
    click = "document.querySelectorAll('#peak th button')[0].click()"
    run(click)
    once = run(rows)
    run(click)
    check(f"{name}: a title sorts, both ways", sorted(once) == sorted(wanted) and (run(rows) != once or len(set(wanted)) < 2))
    for how in ("size", "scope", "kind"):
        run(f"({group})('{how}')")
        sums = run("[...document.querySelectorAll('#peak tbody tr')].filter((r) => !r.hidden).length")
        check(f"{name}: grouped by {how}: {sums} rows", 1 <= sums <= len(parts) + 1)
        check(f"{name}: no row is lost", sorted(run(rows)) == sorted(wanted))
    first = run("probes.marked(0), document.querySelector('#peak tbody tr[data-tensor]:not([hidden])') !== null")
    if first:
        run("document.querySelector('#peak tbody tr[data-tensor]:not([hidden])').focus()")
        check(f"{name}: a row of the table marks its tensor", run("document.activeElement.classList.contains('on') || document.activeElement.dataset.tensor === '-1'"))
    run(f"({group})('kind and size')")


def fingers(name, data, browser):
    """Tests taps on a page."""
    drawn = [p["tensor"] for p in data["peak"]["parts"] if p["tensor"] >= 0]
    for t in drawn[:20]:
        at = browser.run(f"probes.point_of('#memory .chart', {t})")
        if at is None:
            continue
        browser.tap(*at)
        told = browser.run("probes.info()")
        check(f"{name}: a tap tells of a tensor: {told}", told.count("bytes") >= 2 and browser.run("document.querySelectorAll('#memory .layer.on').length") == 1)
        return


def room_and_colours(name, browser, open_page, folder):
    """At each width, in light and dark: no overflow, whole words, contrast. Drawings have no tables, pages no cut texts."""
    for width in WIDTHS:
        for theme in ("light", "dark"):
            browser.show(width, dark=theme == "dark", touch=width < 600)
            open_page()
            where = f"{name} at {width}, {theme}"
            if folder:
                browser.shot(os.path.join(folder, f"{name}_{width}_{theme}.png"))
            browser.run("probes.open_all()")
            check(f"{where}: no wider than the window by {browser.run('probes.overflow()')}", browser.run("probes.overflow()") <= 0)
            broken = browser.run("probes.broken_words()")
            check(f"{where}: no cell is narrower than its words: {broken}", not broken)
            worst = browser.run("probes.contrast()")
            check(f"{where}: contrast {worst}", worst["ratio"] >= 4.5)
            cut = browser.run("probes.cut_texts()")
            check(f"{where}: no text leaves a picture: {cut}", not cut)
            check(f"{where}: no words lie over each other: {browser.run('probes.overlaps()')}", not browser.run("probes.overlaps()"))


def print_out(name, browser, open_page, folder):
    """Black on white, whatever the screen, with one chart and nothing to press."""
    browser.show(800, dark=True, media="print")
    open_page()
    colours = browser.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
    check(f"{name}: print is black on white: {colours}", colours == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"])
    check(f"{name}: print has one chart", browser.run("probes.charts()") == 1)
    left = browser.run("probes.interactive()")
    check(f"{name}: print has nothing to press: {left}", not left)
    worst = browser.run("probes.contrast()")
    check(f"{name}: print has contrast {worst}", worst["ratio"] >= 4.5)
    browser.show(1400, dark=True, media="")
    if browser.run("document.querySelector('#memory .chart') !== null"):
        browser.run("dispatchEvent(new Event('beforeprint'))")
        check(f"{name}: the chart is painted for a sheet", browser.run("probes.view_box()[2]") == 700)
        browser.run("dispatchEvent(new Event('afterprint'))")
    sheets = browser.printed(os.path.join(folder, f"{name}.pdf") if folder else None)
    check(f"{name}: {sheets} sheets", 1 <= sheets <= 12)


def saved(browser, folder, click, file):
    """The file that a button saves."""
    path = os.path.join(folder, file)
    browser.send("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder}, None)
    browser.click(*browser.run(click))
    for _ in range(100):
        if os.path.exists(path):
            break
        time.sleep(0.05)
    with open(path, newline="", encoding="utf-8") as f:
        text = f.read()
    os.remove(path)
    return text


def files(name, data, browser, folder):
    """Tests the files that the buttons save, and the tables that show the same."""
    check(f"{name}: the JSON is the page's", json.loads(saved(browser, folder, "probes.button('Data as JSON')", "report.json")) == data)
    rows = list(csv.reader(saved(browser, folder, "probes.button('CSV', '#memory')", "memory.csv").splitlines()))
    columns = [[o["name"], str(c["step"] + 1), c["operator"], str(c["bytes"]), str(c["steps"])] for o in data["orders"] for c in o["columns"]]
    check(f"{name}: the chart's CSV is what is drawn", rows[1:] == columns and len(rows[0]) == 5)
    browser.run("probes.open_all()")
    check(f"{name}: so is its table", browser.run("document.querySelectorAll('#memory .data tbody tr').length") == len(columns))
    peak = list(csv.reader(saved(browser, folder, "probes.button('CSV', '#peak')", "peak.csv").splitlines()))
    size = peak[0].index("size")
    check(f"{name}: the peak's CSV", [int(row[size]) for row in peak[1:]] == [p["bytes"] for p in data["peak"]["parts"]])
    if "arena" in data and "error" not in data["arena"]:
        arena = list(csv.reader(saved(browser, folder, "probes.button('CSV', '#arena')", "arena.csv").splitlines()))
        check(f"{name}: the arena's CSV", [(int(r[1]), int(r[2])) for r in arena[1:]] == [(b["size"], b["offset"]) for b in data["arena"]["buffers"]])
        check(f"{name}: and table", browser.run("document.querySelectorAll('#arena .data tbody tr').length") == len(data["arena"]["buffers"]))


def quiet(name, browser, path):
    """One request, no word on the console, and no way out."""
    check(f"{name}: nothing on the console: {browser.complaints()}", not browser.complaints())
    check(f"{name}: one request: {browser.requests()}", browser.requests() == ["file://" + os.path.abspath(path)])
    out = browser.run("(async () => { const refused = []; document.addEventListener('securitypolicyviolation', (e) => refused.push(e.effectiveDirective));"
                      " new Image().src = 'http://127.0.0.1:9/x.png'; await fetch('http://127.0.0.1:9/').catch(() => 0);"
                      " await new Promise((done) => setTimeout(done, 50)); return refused.sort(); })()")
    check(f"{name}: the policy lets nothing out: {out}", out == ["connect-src", "img-src"])


def check_page(name, path, browser, folder, work, data_and_result=None):
    """A page in all its forms."""
    with open(os.path.join(HERE, "probes.js"), encoding="utf-8") as f:
        probes = f.read() + "\n0"

    def open_page():
        browser.open(path)
        browser.run(probes.replace("const probes", "var probes"))

    browser.show(1400)
    open_page()
    if data_and_result:
        data, result = data_and_result
        look(name, data, browser, result)
        keys_and_mouse(name, data, browser)
        files(name, data, browser, work)
    quiet(name, browser, path)
    room_and_colours(name, browser, open_page, folder)
    if data_and_result:
        browser.show(390, height=800, touch=True)
        open_page()
        fingers(name, data, browser)
    print_out(name, browser, open_page, folder)


def check_drawing(name, path, browser, folder):
    """A drawing in light and dark."""
    with open(os.path.join(HERE, "probes.js"), encoding="utf-8") as f:
        probes = f.read() + "\n0"
    for theme in ("light", "dark"):
        browser.show(1000, height=600, dark=theme == "dark")
        browser.open(path)
        browser.run(probes.replace("const probes", "var probes"))
        if folder:
            browser.shot(os.path.join(folder, f"{name}_{theme}.png"))
        worst = browser.run("probes.contrast()")
        check(f"{name}, {theme}: contrast {worst}", worst["ratio"] >= 4.5)
        cut = browser.run("probes.cut_texts()")
        check(f"{name}, {theme}: no text leaves the picture: {cut}", not cut)
        check(f"{name}: nothing on the console: {browser.complaints()}", not browser.complaints())
    told = browser.run("[...document.documentElement.children].slice(0, 2).map((x) => [x.tagName, x.textContent.length > 10])")
    role = browser.run("document.documentElement.getAttribute('role')")
    check(f"{name}: a title and a description: {told}", told[0][0] == "title" and told[1] == ["desc", True] and role == "img")


def report_of(program, name, graph, options, most, work):
    """The page of a case, and its text."""
    path = os.path.join(work, name + ".html")
    made = subprocess.run([program, "report", graph, "-o", path, *options], capture_output=True, text=True, check=False)
    check(f"{name}: made: {made.stderr}", made.returncode == (3 if "--budget" in options else 0) and made.stderr == "")
    if not os.path.exists(path):
        return None, ""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    check(f"{name}: {len(text)} bytes", len(text) <= most)
    return path, text


def graph_of(graph, work):
    if graph in GRAPHS:
        path = os.path.join(work, (graph or "ten").lower() + ".json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(GRAPHS[graph], f)
        return path
    return graph if graph.startswith("builtin:") or os.path.exists(graph) else os.path.join(CORPUS, "onnx", graph)


def main():
    program, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    if folder:
        os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        for name, graph, options, most in CASES:
            graph = graph_of(graph, work)
            path, text = report_of(program, name, graph, options, most, work)
            if path is None:
                continue
            data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
            scheduled = [o for i, o in enumerate(options) if "--offsets" not in o and "--budget" not in options[max(i - 1, 0):i + 1]]
            if "--time-limit" not in scheduled:
                scheduled += ["--time-limit", "10"]
            result = json.loads(subprocess.run([program, "schedule", graph, "--format", "json", *scheduled],
                                               capture_output=True, text=True, check=False).stdout)
            check_page(name, path, browser, folder, work, (data, result))
            check(f"{name}: no markup of names", browser.run("document.querySelectorAll('i, b').length") == 0)
        for name, graph, options in DATAFLOW:
            path, _ = report_of(program, name, os.path.join(CORPUS, "sdf3", graph), options, 200_000, work)
            check_page(name, path, browser, folder, work)
        for name, command in DRAWINGS:
            path = os.path.join(work, name + ".svg")
            made = subprocess.run([program, *[a.replace("CORPUS", CORPUS) for a in command], path], capture_output=True, text=True, check=False, cwd=work)
            check(f"{name}: drawn: {made.stderr}", os.path.exists(path))
            check_drawing(name, path, browser, folder)
        browser.close()
    print(f"{passed} passed, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
