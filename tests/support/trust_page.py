"""The figures of docs/trust.md, from what the commands wrote: no figure of it is typed.

    python -m tests.support.trust_page [--folder out/trust]

What `make verify`, `mutants`, `faults`, `fuzz` and `bounds` wrote into the folder goes, shortened, into docs/trust.json, which
keeps what it has of the others; the tables of the page are made from that file.
"""

import argparse
import json
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARKS = "<!-- made by `make trust` -->\n", "<!-- end of what is made -->\n"


# ---- what the commands wrote, shortened ------------------------------------------------------------------------------------------
def verified(found):
    witnesses = {}
    for case in found["cases"]:
        if not case["missing"]:
            one = witnesses.setdefault(f"{case['room']}: {case['against']}", {"cases": 0, "asked": 16.0, "found": 16.0})
            one["cases"] += 1
            one["asked"] = min(one["asked"], case["asked"])
            one["found"] = min(one["found"], -1.0 if case["found"] is None else case["found"])
    return timed(found) | {"machine": found["machine"], "witnesses": witnesses}


def timed(found):
    short = [case["name"] for case in found["cases"] if not case["fine"]]
    missing = sum(case["missing"] for case in found["cases"])
    times = {key: round(found[key]) for key in ("seconds", "processor_seconds")}
    return {"cases": len(found["cases"]), "short": short, "missing": missing, **times}


def fuzzed(found):
    return {
        kind: {"counts": dict(sorted(each["counts"].items())), "findings": len(each["findings"])}
        for kind, each in found["kinds"].items()
    }


SHORTENED = {
    "verify": verified,
    "verify-cold": timed,
    "mutants": lambda found: {each["name"]: each["found"] for each in found},
    "faults": lambda found: found,
    "fuzz": fuzzed,
    "bounds": lambda found: {name: {key: each.get(key) for key in ("passed", "said", "versions")} for name, each in found.items()},
}


def gathered(folder, known):
    """What is known, and in its place what the folder has; inputs and faults kind by kind, since they take long."""
    files = {name: folder / f"{name}.json" for name in SHORTENED}
    found = {name: SHORTENED[name](json.loads(file.read_text())) for name, file in files.items() if file.exists()}
    kept = {name: known.get(name, {}) for name in ("fuzz", "faults")}
    return known | {name: kept.get(name, {}) | one for name, one in found.items()}


# ---- tables ----------------------------------------------------------------------------------------------------------------------
def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def summary(facts):
    """A line for each command."""
    rows = []
    for name, command in (("verify", "`bough verify`"), ("verify-cold", "`bough verify`, from an empty cache")):
        if one := facts.get(name):
            fine = f"{one['cases'] - len(one['short']) - one['missing']} cases fine"
            short = f", FALLING SHORT: {', '.join(one['short'])}" if one["short"] else ""
            missing = f", {one['missing']} without their reference" if one["missing"] else ""
            rows.append([command, f"{fine}{short}{missing}; {one['processor_seconds']} s of processor time, {one['seconds']} s"])
    if one := facts.get("mutants"):
        missed = [name for name, found in one.items() if not found]
        told = f", MISSED: {', '.join(missed)}" if missed else ""
        rows.append(["`make mutants`", f"{len(one)} errors planted, {len(one) - len(missed)} found{told}"])
    if one := facts.get("faults"):
        kills = sum(sum(counts.values()) for name, counts in one.items() if name.startswith("SIGKILL"))
        disks = sum(sum(counts.values()) for name, counts in one.items() if not name.startswith("SIGKILL"))
        rows.append(["`make faults`", f"{kills} kills, {disks} disks or files that filled: nothing unreadable"])
    if one := facts.get("fuzz"):
        tried, found = sum(sum(each["counts"].values()) for each in one.values()), sum(each["findings"] for each in one.values())
        rows.append(["`make fuzz`", f"{tried} inputs of {len(one)} kinds, {found} findings"])
    for name, one in facts.get("bounds", {}).items():
        rows.append([f"`make bounds`, {name} versions", f"{one['said'].strip('= ')} ({one['versions']})"])
    return table(["command", "found"], rows)


def inputs(facts):
    names = [("DescriptionError", "the description"), ("ModelError", "the model"), ("State|NotFinite", "the state or option"),
             ("Simulation", "the run"), ("BoughError|Missing", "else")]  # fmt: skip
    rows = []
    for kind, each in facts.get("fuzz", {}).items():
        counts = each["counts"]
        refused = [sum(n for what, n in counts.items() if re.match(f"refused: ({name})", what)) for name, _ in names]
        assert sum(refused) + counts.get("accepted", 0) + counts.get("FOUND", 0) == sum(counts.values()), counts
        rows.append([kind, sum(counts.values()), counts.get("accepted", 0), *refused, each["findings"]])
    return table(["input", "tried", "taken", *(f"refused: {of}" for _, of in names), "findings"], rows)


def faults(facts):
    left = {name: ", ".join(f"{n} {what}" for what, n in counts.items()) for name, counts in facts.get("faults", {}).items()}
    rows = [[name, sum(facts["faults"][name].values()), said] for name, said in left.items()]
    return table(["fault", "times", "what was there afterwards"], rows)


def witnesses(facts):
    found = facts.get("verify", {}).get("witnesses", {})
    rows = [[name, one["cases"], f"{one['asked']:g}", f"{one['found']:.1f}"] for name, one in found.items()]
    return table(["cases: witness", "number", "digits asked", "digits found, the fewest"], rows)


def made(facts):
    parts = {"Inputs": inputs, "Faults": faults, "Digits against each witness": witnesses}
    return summary(facts) + "".join(f"\n### {title}\n\n{part(facts)}" for title, part in parts.items())


def renewed(page, facts):
    """The page with these tables in the place of those that it has."""
    before, rest = page.split(MARKS[0])
    return f"{before}{MARKS[0]}\n{made(facts)}\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("out/trust"))
    data, text = DOCS / "trust.json", DOCS / "trust.md"
    short = gathered(parser.parse_args().folder, json.loads(data.read_text()) if data.exists() else {})
    data.write_text(json.dumps(short, indent=1, ensure_ascii=False) + "\n")
    text.write_text(renewed(text.read_text(), short))
    print(summary(short))
