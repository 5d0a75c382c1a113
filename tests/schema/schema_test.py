#!/usr/bin/env python3
"""The JSON Schemas of docs/schema: each is a schema, and says of graphs, lines and results what the program says.
usage: schema_test.py PROGRAM SOURCE_DIR"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import jsonschema

warnings.simplefilter("ignore", DeprecationWarning)  # of RefResolver, which all versions have
program, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
schemas = {p.name: json.loads(p.read_text()) for p in sorted((root / "docs/schema").glob("*.json"))}
checks = failures = 0


def check(what, holds):
    global checks, failures
    checks += 1
    if not holds:
        failures += 1
        print("FAILED:", what)


def validator(name):
    schema = schemas[name + ".schema.json"]
    resolver = jsonschema.RefResolver("", schema, store=schemas)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def faults(name, value):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator(name).iter_errors(value)]


def holds(name, value, what):
    found = faults(name, value)
    check(f"{what} is a {name}: {found[:3]}", not found)


def run(*arguments, text=None):
    done = subprocess.run([program, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout


def parsed(*arguments, text=None):
    status, out = run(*arguments, text=text)
    check(f"exit status 0 or 3, not {status}: {arguments}", status in (0, 3))
    return json.loads(out)


for name, schema in schemas.items():
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as e:
        check(f"{name} is a schema: {e.message}", False)

# Graphs: the program and the schema take and refuse the same.
graph = {
    "name": "two",
    "ops": [{"name": "a", "inputs": [0], "outputs": [1]},
            {"name": "b", "inputs": [1], "outputs": [2], "inplace": 0, "workspace": 3, "after": [0], "firing": "cbp"}],
    "tensors": [{"bytes": 4}, {"bytes": 6, "name": "t"}, {"bytes": 6}], "graph_inputs": [0], "graph_outputs": [2]}


def changed(change):
    other = json.loads(json.dumps(graph))
    change(other)
    return other


def changes():
    op, tensor = (lambda g: g["ops"][1]), (lambda g: g["tensors"][1])
    yield True, lambda g: None
    for take, entries in ((op, {"op": "Add", "scope": "cell", "cost": 12, "pure": True, "duration": [], "async": {},
                                "updates": [], "overwrites": [], "inplace": -1, "x-mine": 1, "firing": "pbc"}),
                          (tensor, {"shape": [1], "type": 4, "producer": None, "alias_of": None, "x-": 0})):
        for key, value in entries.items():
            yield True, lambda g, t=take, k=key, v=value: t(g).update({k: v})
    yield True, lambda g: g.update({"source": "a paper", "published": {"peak": 3}})
    for take, entries in ((op, {"worskpace": 1, "workspace": -1, "kind": "x", "firing": "abc", "scope": 3, "cost": 1.5,
                                "pure": 1, "inplace": -2, "overwrites": [[1]], "after": [-1], "inputs": 3, "name": None}),
                          (tensor, {"bytes": -1, "byte": 3, "size": 3, "alias_of": "t", "name": 3})):
        for key, value in entries.items():
            yield False, lambda g, t=take, k=key, v=value: t(g).update({k: v})
    yield False, lambda g: op(g).pop("inputs")
    yield False, lambda g: tensor(g).pop("bytes")
    yield False, lambda g: g.pop("graph_inputs")
    yield False, lambda g: g.update({"tensors": {}})


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "g.json"
    for good, change in changes():
        value = changed(change)
        path.write_text(json.dumps(value))
        status, _ = run("schedule", path, "--format", "json")
        text = json.dumps(value)
        check(f"the program {'takes' if good else 'refuses'} {text}", (status == 0) == good)
        check(f"the schema {'takes' if good else 'refuses'} {text}: {faults('graph', value)[:2]}",
              (not faults("graph", value)) == good)

    # Examples of the documentation.
    examples = 0
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        for block in re.findall(r"```json\n(.*?)```", page.read_text(), re.S):
            examples += 1
            value = json.loads(block)
            if "ops" in value:
                holds("graph", value, f"an example of {page.name}")
    check("there are examples", examples > 0)
    corpus = root / "tests/fuzz/corpus"
    for graph_file in sorted((corpus / "json").glob("*.json")):
        if run("schedule", graph_file, "--format", "json")[0] == 0:
            holds("graph", json.loads(graph_file.read_text()), graph_file.name)

    # Results.
    cell = "builtin:swiftnet-cell-a"
    for extra in ([], ["--explain"], ["--budget", "100K"], ["--firing", "cbp"], ["--no-inplace"], ["--scheduler", "rpo"]):
        holds("result", parsed("schedule", cell, "--format", "json", *extra), f"schedule {extra}")
    proof = pathlib.Path(folder) / "p.json"
    run("schedule", cell, "--certificate", proof)
    holds("result", json.loads(proof.read_text()), "schedule --certificate")
    for model in sorted((corpus / "onnx").glob("*.onnx")):
        status, out = run("schedule", model, "--format", "json")
        if status == 0:
            holds("result", json.loads(out), model.name)
    dataflow = 0
    for sdf in sorted((corpus / "sdf3").glob("*.xml")):
        for extra in ([], ["--loops", "single"], ["--firing", "cbp"]):
            status, out = run("schedule", sdf, "--format", "json", *extra)
            if status == 0:
                dataflow += 1
                holds("result", json.loads(out), sdf.name)
    check("there are graphs of dataflow", dataflow > 0)
    bad = parsed("schedule", cell, "--format", "json")
    for key, value in (("peek", 1), ("status", "good"), ("order", "0"), ("peak", -1)):
        check(f"no result with {key}: {value}", faults("result", {**bad, key: value}))

    # Rewritten networks.
    for extra in ([], ["--budget", "64K"], ["--runtime", "whole", "--max-extra-macs", "2%"]):
        holds("rewrite", parsed("rewrite", "builtin:mcunet-v2-chain", "--state-limit", "300", "--format", "json", *extra),
              f"rewrite {extra}")
    status, text = run("rewrite", "builtin:mcunet-v2-chain", "--time-limit", "0", "--format", "json")
    late = json.loads(text)
    holds("rewrite", late, "rewrite --time-limit 0")
    check("a rewrite that was not verified", (status, late["verified"], late["verify_stopped"]) == (3, False, "time_limit"))
    check("no reason of another kind", faults("rewrite", {**late, "verify_stopped": "finished"}))
    out, compared = pathlib.Path(folder) / "out.tflite", 0
    for model in sorted((corpus / "tflite").glob("*.tflite")):
        for extra in ([], ["--objective", "tflm-total"], ["--objective", "tflm-total", "--pointer-bits", "64", "--offsets"]):
            status, text = run("rewrite", model, "-o", out, "--state-limit", "300", "--time-limit", "2", "--format", "json", *extra)
            if status not in (0, 3):
                continue
            value = json.loads(text)
            holds("rewrite", value, f"rewrite {model.name} {extra}")
            compared += "arenas" in value
            if extra:
                lacking = {k: v for k, v in value.items() if k != "tflm_tail"}
                check("no result without tflm_tail", faults("rewrite", lacking))
                check("no result of an unknown file", faults("rewrite", {**value, "arenas": [{**value["arenas"][0], "network": "x"}]}))
    check("files were compared by their arena", compared > 0)

    # Plans.
    for extra in ([], ["--joint"], ["--alignment", "64"], ["--budget", "100K"], ["--planner", "birth"]):
        holds("plan", parsed("plan", cell, "--format", "json", *extra), f"plan {extra}")
    run("plan", cell, "--certificate", proof)
    holds("plan", json.loads(proof.read_text()), "plan --certificate")
    table = pathlib.Path(folder) / "b.csv"
    run("plan", cell, "-o", table)
    holds("plan", parsed("plan", table, "--format", "json"), "plan of a table")

    # Lines of batches.
    lines = [
        (True, cell), (True, {"graph": cell, "id": [1], "explain": True, "budget": 10, "firing": "cbp", "inplace": False}),
        (True, {"graph": graph, "state_limit": 100, "time_limit": 1.5, "scheduler": "rpo", "memory_limit": 1000000}),
        (False, {"graph": cell, "sceduler": "rpo"}), (False, {"id": 3}), (False, {"graph": 3}), (False, 7),
        (False, {"graph": "-"}), (True, {"graph": cell, "budget": "256K"}),
        (False, {"graph": cell, "budget": "much"}), (False, {"graph": cell, "budget": -1}), (False, {"graph": cell, "inplace": "no"}),
        (False, {"graph": changed(lambda g: g["ops"][0].update({"outpust": []}))})]
    _, out = run("batch", text="".join(json.dumps(value) + "\n" for _, value in lines))
    answers = [json.loads(line) for line in out.splitlines()]
    check("an answer for each line", len(answers) == len(lines))
    for (good, value), answer in zip(lines, answers):
        check(f"the schema {'takes' if good else 'refuses'} the line {value}", (not faults("batch-line", value)) == good)
        check(f"batch {'takes' if good else 'refuses'} the line {value}", ("error" not in answer) == good)
        holds("batch-answer", answer, "an answer")

print(f"{checks} checks, {failures} failures")
sys.exit(1 if failures else 0)
