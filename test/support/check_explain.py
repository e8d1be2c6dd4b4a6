# SPDX-License-Identifier: Apache-2.0
"""usage: check_explain.py FORETRACE SEED COUNT

What `foretrace explain` says of numbers of random jobs is true: expressions,
evaluated here from their leaves alone, give the numbers, which of rows, lines,
nodes and parameters are those that are emitted. Where a leaf is stated stands its value.
"""
import json
import os
import re
import subprocess

import chakra
import each_job
from ftir import TYPE, Keys
from unfold_ranks import Job, random_ranks

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
    with open(os.path.join(folder, operand["file"])) as file:
        line = file.read().splitlines()[operand["line"] - 1]
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


def explain(foretrace, path, *arguments):
    run = subprocess.run([foretrace, "explain", path, "--format=json",
                          *arguments], capture_output=True, text=True,
                         check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def figures_of(subjects, folder):
    """(unit, value) of all figures, which are checked."""
    figures = []
    for subject in subjects:
        for figure in subject["figures"]:
            assert value_of(figure, folder) == figure["value"], figure
            figures.append((figure["unit"], figure["value"]))
    return figures


def check_row(foretrace, path, folder, draw, stage):
    """A row of the table of a stage has the sizes that are explained."""
    with open(path) as file:
        text = file.read()
    table = path + ".txt"
    with open(path, "w") as file:
        file.write(text + 'emit simai { file = "%s" stage = %d }\n' % (
            os.path.basename(table), stage))
    subprocess.run([foretrace, "compile", path, "--emit=simai", "--quiet",
                    "-o", table], capture_output=True, check=True)
    with open(table) as file:
        rows = file.read().splitlines()[2:]
    number = draw.randint(1, len(rows))
    cells = rows[number - 1].split()
    subjects = explain(foretrace, path, "--emit=simai", "--row=%d" % number)
    figures_of(subjects, folder)
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


def check_node(foretrace, path, folder, draw, ranks):
    """A node of a trace has the sizes that are explained."""
    rank = draw.randrange(ranks)
    traces = path + ".chakra"
    subprocess.run([foretrace, "compile", path, "--emit=chakra", "--quiet",
                    "-o", traces + "/"], capture_output=True, check=True)
    [name] = [n for n in os.listdir(traces) if n.endswith(".%d.et" % rank)]
    node = draw.choice(chakra.read(os.path.join(traces, name))[1])
    found = figures_of(explain(foretrace, path, "--emit=chakra", "--rank=%d"
                               % rank, "--node=%d" % node.id), folder)
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


def check_line(foretrace, path, folder, draw, ranks):
    """A line of a trace has the shapes that are explained."""
    rank = draw.randrange(ranks)
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text + "emit megatron { dialect = %s }\n" % draw.choice(
            ["v1", "v2", "v2b"]))
    traces = path + ".traces"
    run = subprocess.run([foretrace, "compile", path, "--emit=megatron",
                          "--quiet", "-o", traces + "/"], capture_output=True,
                         text=True)
    if run.returncode:  # a mode that no trace shows
        assert run.returncode == 1 and re.search(
            r"\[(megatron-|dp-shard-unknown)", run.stderr), run.stderr
        return 0
    with open(os.path.join(traces, "rank%d.txt" % rank)) as file:
        lines = file.read().splitlines()
    number = draw.randint(1, len(lines))
    subjects = explain(foretrace, path, "--emit=megatron", "--rank=%d" % rank,
                       "--row=%d" % number)
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
    return len(figures_of(subjects, folder))


def output(foretrace, *arguments):
    return subprocess.run([foretrace, *arguments], capture_output=True,
                          text=True, check=True).stdout


def by_name(figures):
    """Their values, by the first word of what they are."""
    return {figure["what"].split()[0]: figure["value"] for figure in figures}


def check_plan(foretrace, path, folder, draw, stage):
    """Rows of plans, and the work of stages, are those that are printed."""
    plan = json.loads(output(foretrace, "plan", path, "--format=json"))
    number = draw.randint(1, len(plan["chunks"]) + 1)
    subjects = explain(foretrace, path, "--emit=plan", "--row=%d" % number)
    count = len(figures_of(subjects, folder))
    found = by_name(subjects[0]["figures"])
    if number > len(plan["chunks"]):
        assert found == {
            name: plan["partition_%s_largest_of_mean_permille" % name]
            for name in ("parameters", "flops")}, (plan, found)
    else:
        chunk = plan["chunks"][number - 1]
        share = found.pop("share")
        every = sum(other["flops"] * (1 + other["stages"][1] -
                                      other["stages"][0])
                    * (1 + other["chunks"][1] - other["chunks"][0])
                    for other in plan["chunks"])
        assert abs(share * every - 1000 * chunk["flops"]) <= every, plan
        assert found == {name: chunk[name] for name in found}, (chunk, found)
        assert len(found) == 5, found
    subjects = explain(foretrace, path, "--work", "--stage=%d" % stage)
    count += len(figures_of(subjects, folder))
    [of] = [s for s in plan["stages"]
            if s["stages"][0] <= stage <= s["stages"][1]]
    found = by_name(subjects[0]["figures"])
    assert found.pop("in_flight") >= 1, found
    assert found == {name: of[name] for name in ("parameters", "flops")}, found
    return count


def check_figure(foretrace, path, folder, draw):
    """A figure that is written is the one that is explained."""
    backend = draw.choice(["params", "flops"])
    written = json.loads(output(foretrace, backend, path, "--format=json"))
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
    name, value = draw.choice(sorted(cells.items()))
    [(_, found)] = figures_of(explain(
        foretrace, path, "--emit=" + backend, "--figure=" + name), folder)
    assert found == value, (name, found, value)
    return 1


def check_task(foretrace, path, folder, draw, ranks):
    """A task of a GOAL schedule takes, or moves, what is explained."""
    rank = draw.randrange(ranks)
    text = output(foretrace, "compile", path, "--emit=goal", "--quiet",
                  "--stdout")
    block = re.search(r"^rank %d \{$(.*?)^\}$" % rank, text, re.M | re.S)[1]
    task = draw.choice(re.findall(r"^t(\d+):", block, re.M))
    lines = re.findall(r"^t%s(_\d+)?: (\w+) (\d+)b? .*?cpu (\d)" % task, block,
                       re.M)
    [(_, value)] = found = figures_of(
        explain(foretrace, path, "--emit=goal", "--rank=%d" % rank,
                "--node=" + task), folder)
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


def numbers(foretrace, folder, seed):
    """Checks numbers of a job; how many."""
    draw, path, text, ir = random_ranks(foretrace, folder, seed)
    path += ".fore"
    cost = random_cost(draw, ir)
    with open(path, "a") as file:
        file.write(cost)
    job = Job(ir)
    stage = draw.randrange(job.schedule.p)
    count = check_row(foretrace, path, folder, draw, stage)
    count += check_node(foretrace, path, folder, draw, job.ranks)
    if cost:
        count += check_task(foretrace, path, folder, draw, job.ranks)
    count += check_line(foretrace, path, folder, draw, job.ranks)
    count += check_plan(foretrace, path, folder, draw, stage)
    count += check_figure(foretrace, path, folder, draw)
    ops = re.findall(r"^  %.* = \w+(?:\.\w+)?(?:\([^)]*\))? @(\S+)", ir, re.M)
    parameter, kind = draw.choice(
        re.findall(rf"^  param %(\S+) : ({TYPE})", ir, re.M))[:2]
    found = figures_of(explain(foretrace, path, "--param", parameter), folder)
    assert ("bytes", job.bytes(kind)) in found, (parameter, found)
    count += len(found)
    for query in (["--op", draw.choice(ops).strip('"')],
                  ["--memory", "--stage=%d" % stage],
                  ["--messages", "--stage=%d" % stage]):
        found = figures_of(explain(foretrace, path, *query), folder)
        assert found or query[0] == "--messages", query
        count += len(found)
    return count


def one(foretrace, folder, seed):
    """What is wrong, or None."""
    try:
        assert numbers(foretrace, folder, seed) >= LEAST
    except (AssertionError, subprocess.CalledProcessError) as problem:
        return "seed %s: %s" % (seed, problem)
    return None


if __name__ == "__main__":
    each_job.main(one)
