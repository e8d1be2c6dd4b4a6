"""usage: check.py PAGE

Looks at a page without a browser: it is one file, its data are JSON, and its
script is one if there is `node` to say so. Prints its size and what it has.
"""

import fractions
import html.parser
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile


class Scripts(html.parser.HTMLParser):
    """The scripts of a page; stops at what the page would load."""

    def __init__(self):
        super().__init__()
        self.texts, self.kind = {}, None

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        for name in "src", "href":
            if name in given and not given[name].startswith(("data:", "#")):
                sys.exit(f"<{tag} {name}={given[name]}> loads something")
        self.kind = given.get("type", "script") if tag == "script" else None

    def handle_data(self, text):
        if self.kind:
            self.texts[self.kind] = self.texts.get(self.kind, "") + text

    def handle_endtag(self, tag):
        self.kind = None


def is_script(text):
    if not shutil.which("node"):
        return True
    with tempfile.NamedTemporaryFile("w", suffix=".js") as file:
        file.write(text)
        file.flush()
        return subprocess.run(["node", "--check", file.name],
                              check=False).returncode == 0


OPERATIONS = {
    "+": sum,
    "*": math.prod,
    "/": lambda of: fractions.Fraction(*of),
    "floor": lambda of: of[0] // of[1],
    "ceil": lambda of: -(-of[0] // of[1]),
    "mod": lambda of: of[0] % of[1],
    "min": min,
    "max": max,
    "less": lambda of: int(of[0] < of[1]),
    "equal": lambda of: int(of[0] == of[1]),
    "lcm": lambda of: math.lcm(*of),
}


def value_of(term):
    text = term["value"] if isinstance(term, dict) else term[1]
    return None if text is None else int(text)


def check_terms(terms):
    """Each is worth what its operands are, and keys what defines them."""
    for term in terms:
        if isinstance(term, dict):
            if "from" in term and value_of(terms[term["from"]]) != value_of(term):
                sys.exit(f"{term} is not what it follows from")
            continue
        operation, _, *operands = term
        values = [value_of(terms[operand]) for operand in operands]
        if operation and value_of(term) is not None and \
                OPERATIONS[operation](values) != value_of(term):
            sys.exit(f"{operation} of {values} is not {value_of(term)}")


def check_values(value, terms):
    """Numbers are worth what their terms are; how many there are."""
    if isinstance(value, list):
        return sum(check_values(each, terms) for each in value)
    if not isinstance(value, dict):
        return 0
    if value.keys() == {"value", "from"}:
        if value_of(terms[value["from"]]) not in (None, int(value["value"])):
            sys.exit(f"{value['value']} is not what it follows from")
        return 1
    return sum(check_values(each, terms) for each in value.values())


def is_alone(of, value):
    """Whether it is a number that follows from nothing."""
    return of["unit"] != "text" and isinstance(value, str) and value != "0"


def unexplained(section):
    """Numbers of their own, and columns that have some."""
    found = [figure["key"] for figure in section["named"]
             if is_alone(figure, figure["value"])]
    for table in section["tables"]:
        found += [f"{table['key']}.{column['key']}"
                  for place, column in enumerate(table["columns"])
                  if any(is_alone(column, row[place])
                         for row in table["rows"])]
    return found


def check_gap(stage):
    """Steps of the middle are left out: the gap is from where the last one before
    ends to where the next one that is drawn starts."""
    if not (gap := stage.get("gap")):
        return True
    start, end, count = gap
    steps = stage["steps"]
    half = len(steps) // 2
    return (count > 0 and steps[half - 1][1] == start
            and steps[half][0] == end)


text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
scripts = Scripts()
scripts.feed(text)
data = json.loads(scripts.texts["application/json"])
if not is_script(scripts.texts["script"]):
    sys.exit("the script is none")
check_terms(data["terms"])
if not all(term.get("where") for term in data["terms"]
           if isinstance(term, dict) and term["why"] == "stated"):
    sys.exit("a key that the job states is nowhere")
if not check_values([data["plan"], data["sections"]], data["terms"]):
    sys.exit("no number is explained")
picture = data.get("picture", {})
if not all(map(check_gap, picture.get("stages", []))):
    sys.exit("what is left out is not between the steps that are drawn")
print(f"job {data['plan']['job']},",
      "less than a megabyte" if len(text) < 1_000_000 else "too long")
print(f"picture: {len(picture.get('stages', []))} stages,",
      picture.get("note") or "all of it")
print(f"nodes: {len(data['nodes']['shown'])} of {data['nodes']['count']},",
      "groups:", *data["nodes"]["groups"])
print("sections:", *(section["name"] for section in data["sections"]))
for section in data["sections"]:
    if not section["named"] and not section["tables"]:
        print(section["name"], "alone:", *section["notes"])
    elif found := unexplained(section):
        print(section["name"], "unexplained:", *found)
