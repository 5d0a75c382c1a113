"""XLA's HLO text as a graph for `memsched schedule`, and the order back into the text."""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hlo_buffers import Model
from hlo_order import rewritten
from hlo_text import Reason, Unreadable, need, read

EXAMPLE = """\
example:
  hlo module.hlo > graph.json                               # XLA writes module.hlo with --xla_dump_to=DIR
  memsched schedule graph.json --format json -o order.json
  hlo module.hlo --order order.json > scheduled.hlo

what is counted: the buffers that XLA's heap simulator counts, in one memory space, without alignment and
  fragmentation. Parameters of the module live throughout; constants have no bytes. A result has the buffer
  of an operand where XLA says so: while loops, dynamic-update-slice, scatter and fusions that end in them,
  output_to_operand_aliasing, input_output_alias. Where the text reads the old value later, XLA copies it
  first, and so the result has bytes of its own. An elementwise result may take the buffer of an operand of
  the same shape that ends with it. Fusions and reductions need no memory inside.

called computations: what a while, call, conditional or async-start needs inside counts while it runs, in
  the order of the text. Order the innermost first (--computation body), put it back, export the result.

what is refused, with line and reason: shapes without a bound, sparse, split and nested layouts, unknown
  operations and types, and whatever does not hold together.
"""


def count(text):
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError("%s is no number from 0 on" % text)
    return int(text)


def arguments():
    p = argparse.ArgumentParser(prog="hlo", description=__doc__, epilog=EXAMPLE,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", metavar="FILE", help="HLO text, scheduled or not; - for standard input")
    p.add_argument("--computation", metavar="NAME", help="this one instead of the entry")
    p.add_argument("--space", metavar="N", type=count, default=0,
                   help="the memory space to order by, S(N) in layouts; bytes in others do not count [0]")
    p.add_argument("--pointer-bytes", metavar="N", type=count, default=8, help="of the tables of tuples [8, as on CPUs and GPUs]")
    p.add_argument("--async", dest="keep_async", choices=["keep", "free"], default="keep",
                   help="keep: what stands between a start and its done stays there, so that latency stays hidden; free: only "
                        "data and control order them [keep]")
    p.add_argument("--order", metavar="RESULT", help="writes FILE in the order of this result of memsched schedule --format json")
    p.add_argument("--as", dest="how", choices=["schedule", "control"], default="schedule",
                   help="schedule: is_scheduled=true, so that XLA takes the order of the text; control: control-predecessors "
                        "from each instruction to the next, for XLA's schedulers to obey [schedule]")
    return p.parse_args()


def order_in(path):
    try:
        names = json.loads(Path(path).read_text(encoding="utf-8"))["names"]
        need(isinstance(names, list) and all(isinstance(name, str) for name in names), "")
        return names
    except (ValueError, TypeError, KeyError, Reason):
        raise Reason("is no result of memsched schedule --format json") from None


def main():
    given = arguments()
    place = given.file
    try:
        text = sys.stdin.read() if given.file == "-" else Path(given.file).read_text(encoding="utf-8")
        module = read(text)
        model = Model(module, given.space, given.pointer_bytes, given.keep_async == "keep")
        need(given.computation is None or given.computation in module.computations,
             "has no computation %s, but %s" % (given.computation, ", ".join(module.computations)))
        graph = model.graph(given.computation or module.entry)
        if given.order:
            place = given.order
            print(rewritten(module, graph, order_in(given.order), given.how), end="")
        else:
            print(json.dumps(graph.json()))
    except (OSError, UnicodeDecodeError, Unreadable, Reason) as e:
        sys.exit("hlo: %s: %s" % (place, " ".join(str(e).split())))


if __name__ == "__main__":
    main()
