"""usage: check.py PAGE

Looks at a page without a browser: it is one file, its data are JSON, and its
script is one if there is `node` to say so. Prints its size and what it has.
"""

import fractions
import html.parser
import json
import pathlib
import re
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
            if name in given and not given[name].startswith("data:"):
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


NUMBER = re.compile(r"\d+")
QUOTIENTS = {
    "floor": lambda left, right: left // right,
    "ceil": lambda left, right: -(-left // right),
    "mod": lambda left, right: left % right,
    "less": lambda left, right: int(left < right),
    "equal": lambda left, right: int(left == right),
    "Number": fractions.Fraction,
}


def check_expressions(data):
    """Those that are not cut are worth what the page says."""
    for entry in data["expressions"]:
        assert all(data["keys"][key] for key in entry["operands"])
        if entry["numbers"].endswith("...") or "value" not in entry:
            continue
        worth = eval(NUMBER.sub(r"Number(\g<0>)", entry["numbers"]), QUOTIENTS)
        if str(worth) != entry["value"]:
            sys.exit(f"{entry['numbers']} is {worth}, not {entry['value']}")


def check_values(value, expressions):
    """Numbers are worth what their expressions are; how many there are."""
    if isinstance(value, list):
        return sum(check_values(each, expressions) for each in value)
    if not isinstance(value, dict):
        return 0
    if value.keys() == {"value", "from"}:
        if expressions[value["from"]].get("value") not in (
                None, value["value"]):
            sys.exit(f"{value['value']} is not what it follows from")
        return 1
    return sum(check_values(each, expressions) for each in value.values())


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


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    scripts = Scripts()
    scripts.feed(text)
    data = json.loads(scripts.texts["application/json"])
    if not is_script(scripts.texts["script"]):
        sys.exit("the script is none")
    check_expressions(data)
    if not all(key.get("where") for key in data["keys"]
               if key and key["why"] == "stated"):
        sys.exit("a key that the job states is nowhere")
    if not check_values([data["plan"], data["sections"]], data["expressions"]):
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


main()
