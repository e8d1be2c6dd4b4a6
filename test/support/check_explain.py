# SPDX-License-Identifier: Apache-2.0
"""usage: check_explain.py SEED COUNT

What `foretrace explain` says of numbers of random jobs is true: expressions,
evaluated here from their leaves alone, give the numbers, which of rows, lines,
nodes and parameters are those that are emitted. Where a leaf is stated stands its value.
"""
import os
import pathlib
import re

import chakra
import tool
from ftir import TYPE, Keys
from unfold_ranks import random_ranks

# Numbers of each job: of an op, a parameter, and the memory of a stage.
LEAST = 8
# Of the times of AIOB.
SECTIONS = ["Emb", "layernorm", "atten_qkv", "atten_flash", "mlp_linear_1",
            "mlp_gelu", "logit", "param_time_avg"]


class Leaves(Keys):
    """Numbers by name, from operands of an explanation."""

    def __init__(self, operands, folder):
        self.numbers = {o["key"]: number_of(o, folder) for o in operands}


# Of what is measured in µs, how many there are in one.
MEASURED = {"ns": 10**3, "ps": 10**6}


def written(operand, folder):
    """The number at the place where an operand is stated."""
    text = pathlib.Path(folder, operand["file"]).read_text("utf-8")
    line = text.splitlines()[operand["line"] - 1]
    text = line[operand["column"] - 1:]
    assert text.startswith(operand["text"]), operand
    number = int(re.match(r"\d+\b", text)[0])
    return number * MEASURED.get(operand.get("unit"), 1)


def number_of(operand, folder):
    """From what it follows from, if it does, else from where it stands."""
    if operand["from"] == "stated":
        assert written(operand, folder) == operand["value"], operand
    if "expression" in operand:
        value = value_of(operand, folder)
        assert value == operand["value"], operand
    else:
        assert operand["from"] in ("stated", "default", "counted"), operand
    return operand["value"]


def value_of(tree, folder):
    """The value of the expression, and of it with numbers put in."""
    keys = Leaves(tree["operands"], folder)
    value = keys.value(tree["expression"])
    assert Leaves([], folder).value(tree["numbers"]) == value, tree
    return value


def explain(case, *arguments):
    return tool.rows("explain", case.job, *arguments)


def figures_of(subjects, case):
    """(unit, value) of all figures, which are checked."""
    figures, folder = [], os.path.dirname(case.job)
    for subject in subjects:
        for figure in subject["figures"]:
            assert value_of(figure, folder) == figure["value"], figure
            figures.append((figure["unit"], figure["value"]))
    return figures


def check_row(case, stage):
    """A row of the table of a stage has the sizes that are explained."""
    table = case.stem + ".txt"
    case.append('emit simai { file = "%s" stage = %d }\n' % (os.path.basename(table), stage))
    tool.run("compile", case.job, "--emit=simai", "--quiet", "-o", table)
    rows = pathlib.Path(table).read_text("utf-8").splitlines()[2:]
    number = case.draw.randint(1, len(rows))
    cells = rows[number - 1].split()
    subjects = explain(case, "--emit=simai", "--row=%d" % number)
    figures_of(subjects, case)
    count = 0
    for at, column in ((2, "forward"), (5, "backward"), (8, "update")):
        time, word, size = cells[at:at + 3]
        found = {figure["what"]: figure["value"] for subject in subjects
                 if "column " + column in subject["what"]
                 for figure in subject["figures"]}
        assert found.pop("time", 0) == int(time), (cells, subjects)
        assert found == ({} if word == "NONE" else {"message": int(size)}), (
            cells, subjects)
        count += 1 + len(found)
    return count


def check_node(case, ranks):
    """A node of a trace has the sizes that are explained."""
    rank = case.draw.randrange(ranks)
    traces = case.job + ".chakra"
    tool.run("compile", case.job, "--emit=chakra", "--quiet", "-o", traces + "/")
    node = case.draw.choice(chakra.read_set(traces)[1][rank])
    found = figures_of(explain(case, "--emit=chakra", "--rank=%d" % rank,
                               "--node=%d" % node.id), case)
    of = node.attributes
    if node.kind == "compute":
        assert ("us", node.duration or 0) in found, (node.duration, found)
    if node.kind != "compute":
        assert found == [("bytes", of["comm_size"])], (of, found)
    elif "num_ops" in of:
        sizes = dict(found)
        assert max(sizes.get("FLOPs", 0), 1) == of["num_ops"], (of, found)
        assert max(sizes["bytes"], 1) == of["tensor_size"], (of, found)
    return len(found)


def logged_shapes(line):
    """The shapes in a line of a trace: its own or None, and those of its calls.
    A shape has its numbers by dimension; R is none."""
    shapes = [None if text == "None" else
              {at: int(size) for at, size in enumerate(text[1:-1].split(", "))
               if size != "R"}
              for text in re.findall(r"input__shape=(None|\[[^\]]*\])", line)]
    return shapes[0], shapes[1:]


def explained_shape(subject):
    shape = {}
    for figure in subject["figures"]:
        if dim := re.fullmatch(r"input__shape\[(\d+)\]", figure["what"]):
            shape[int(dim[1])] = figure["value"]
    return shape


def check_line(case, ranks):
    """A line of a trace has the shapes that are explained."""
    rank = case.draw.randrange(ranks)
    case.append("emit megatron { dialect = %s }\n" % case.draw.choice(["v1", "v2", "v2b"]))
    traces = case.job + ".traces"
    run = tool.attempt("compile", case.job, "--emit=megatron", "--quiet", "-o", traces + "/")
    if run.returncode:  # a mode that no trace shows
        assert run.returncode == 1 and re.search(
            r"\[(megatron-|dp-shard-unknown)", run.stderr), run.stderr
        return 0
    lines = pathlib.Path(traces, "rank%d.txt" % rank).read_text("utf-8").splitlines()
    number = case.draw.randint(1, len(lines))
    subjects = explain(case, "--emit=megatron", "--rank=%d" % rank, "--row=%d" % number)
    own, calls = logged_shapes(lines[number - 1])
    assert explained_shape(subjects[0]) == (own or {}), (lines[number - 1], own)
    seen = []
    for subject in subjects:
        if call := re.search(r", call (\d+)(?: of (\d+) alike)?,",
                             subject["what"]):
            shape = explained_shape(subject)
            assert shape == calls[int(call[1])], (subject, calls)
            seen += [shape] * int(call[2] or 1)
    assert sorted(map(str, seen)) == sorted(map(str, calls)), (seen, calls)
    return len(figures_of(subjects, case))


def by_name(figures):
    """Their values, by the first word of what they are."""
    return {figure["what"].split()[0]: figure["value"] for figure in figures}


def check_plan(case, stage):
    """Rows of plans, and the work of stages, are those that are printed."""
    plan = tool.document("plan", case.job)
    number = case.draw.randint(1, len(plan["chunks"]) + 1)
    subjects = explain(case, "--emit=plan", "--row=%d" % number)
    count = len(figures_of(subjects, case))
    found = by_name(subjects[0]["figures"])
    if number > len(plan["chunks"]):
        assert found == {
            name: plan["partition_%s_largest_of_mean_permille" % name]
            for name in ("parameters", "flops")}, (plan, found)
    else:
        chunk = plan["chunks"][number - 1]
        share = found.pop("share")
        every = sum(other["flops"] * len(tool.each(other["stages"])) * len(tool.each(other["chunks"]))
                    for other in plan["chunks"])
        assert abs(share * every - 1000 * chunk["flops"]) <= every, plan
        assert found == {name: chunk[name] for name in found}, (chunk, found)
        assert len(found) == 5, found
    subjects = explain(case, "--work", "--stage=%d" % stage)
    count += len(figures_of(subjects, case))
    [of] = [s for s in plan["stages"] if stage in tool.each(s["stages"])]
    found = by_name(subjects[0]["figures"])
    assert found.pop("in_flight") >= 1, found
    assert found == {name: of[name] for name in ("parameters", "flops")}, found
    return count


def check_figure(case):
    """A figure that is written is the one that is explained."""
    backend = case.draw.choice(["params", "flops"])
    written = tool.document(backend, case.job)
    cells = {name: value for name, value in written.items()
             if isinstance(value, int) and name != "repeated_flops"}
    for table, rows in written.items():
        for row in rows if table in ("blocks", "parts", "stages") else ():
            first, *others = row
            name = row[first] if table != "stages" else "-".join(
                dict.fromkeys(map(str, row[first])))
            cells.update(("%s/%s/%s" % (table, name, other), row[other])
                         for other in others
                         if other not in ("layers", "ranks"))
    name, value = case.draw.choice(sorted(cells.items()))
    [(_, found)] = figures_of(explain(
        case, "--emit=" + backend, "--figure=" + name), case)
    assert found == value, (name, found, value)
    return 1


def check_task(case, ranks):
    """A task of a GOAL schedule takes, or moves, what is explained."""
    rank = case.draw.randrange(ranks)
    text = tool.run("compile", case.job, "--emit=goal", "--quiet", "--stdout")
    block = re.search(r"^rank %d \{$(.*?)^\}$" % rank, text, re.M | re.S)[1]
    task = case.draw.choice(re.findall(r"^t(\d+):", block, re.M))
    lines = re.findall(r"^t%s(_\d+)?: (\w+) (\d+)b? .*?cpu (\d)" % task, block,
                       re.M)
    [(_, value)] = found = figures_of(
        explain(case, "--emit=goal", "--rank=%d" % rank, "--node=" + task), case)
    if len(lines) == 1:  # a computation, or a message between two
        assert value == int(lines[0][2]), (lines, found)
    else:
        assert all(value >= int(line[2]) for line in lines), (lines, found)
    return 1


def random_cost(draw, ir):
    """A `cost` of whole numbers, or none."""
    def some():
        return draw.randint(1, 400)
    kind = draw.choice(["uncosted", "roofline", "profile", "calibrated"])
    if kind == "uncosted":
        return ""
    if kind == "roofline":
        return ("cost roofline { device { peak_flops = %d memory_bandwidth = %d"
                " } }\n" % (some() * 10**12, some() * 10**10))
    if kind == "profile":
        return "cost profile { times { %s } }\n" % " ".join(
            "%s = %d" % (section, some()) for section in SECTIONS)
    blocks = re.findall(r"^block (\S+) ", ir, re.M)
    times = " ".join("%s = %d" % (b, some()) for b in blocks
                     if not b.startswith("step."))
    return ("cost calibrated { times { forward { %s } backward { %s } optimizer"
            " = %d } }\n" % (times, times, some()))


def check(case):
    job, draw = random_ranks(case), case.draw
    cost = random_cost(draw, job.text)
    case.append(cost)
    stage = draw.randrange(job.schedule.p)
    count = check_row(case, stage) + check_node(case, job.ranks)
    if cost:
        count += check_task(case, job.ranks)
    count += check_line(case, job.ranks) + check_plan(case, stage) + check_figure(case)
    ops = re.findall(r"^  %.* = \w+(?:\.\w+)?(?:\([^)]*\))? @(\S+)", job.text, re.M)
    parameter, kind = draw.choice(
        re.findall(rf"^  param %(\S+) : ({TYPE})", job.text, re.M))[:2]
    found = figures_of(explain(case, "--param", parameter), case)
    assert ("bytes", job.bytes(kind)) in found, (parameter, found)
    count += len(found)
    for query in (["--op", draw.choice(ops).strip('"')],
                  ["--memory", "--stage=%d" % stage],
                  ["--messages", "--stage=%d" % stage]):
        found = figures_of(explain(case, *query), case)
        assert found or query[0] == "--messages", query
        count += len(found)
    assert count >= LEAST


tool.cases(check)
