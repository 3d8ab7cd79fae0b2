# SPDX-License-Identifier: Apache-2.0
"""coverage.py [PYTHON_MODULE]: every function of the headers is called by each binding, or left_out.txt says why not.

A call counts where the name stands in a binding's code, comments and strings apart; for Python, where the compiled
module needs it. The list has lines of "binding name reason"; a line for a name that is used after all, or is in no
header, fails too. The same holds for the fields of structs that a binding translates, as hoist_x_t.field, and for
enumerators where it translates these.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    "cpp": ("bindings/cpp/include/hoist", "*.hpp"),
    "rust": ("bindings/rust/hoist/src", "*.rs"),
}
PYTHON_SOURCE = ("bindings/python/src", "*.[ch]pp")
# What is not handed out as the C struct that it is.
RUST_STRUCTS = {"hoist_device_properties_t", "hoist_tensor_info_t", "hoist_replan_status_t", "hoist_checkpoint_tensor_t"}
PYTHON_STRUCTS = RUST_STRUCTS | {"hoist_budget_status_t", "hoist_plan_result_t", "hoist_plan_options_t"}
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def declared(header: str) -> set[str]:
    """Names of the functions that a header declares."""
    code = COMMENT_OR_STRING.sub(" ", header)
    return set(re.findall(r"\bHOIST_API\b[^;({]*?\b(hoist_\w+)\s*\(", code))


def called(source: str) -> set[str]:
    """Names of hoist's that a source uses."""
    return set(re.findall(r"\bhoist_\w+", COMMENT_OR_STRING.sub(" ", source)))


def fields(header: str, structs: set[str]) -> set[str]:
    """The fields of some structs, as struct.field; sizes and reserved ones are nobody's business."""
    code = COMMENT_OR_STRING.sub(" ", header)
    found = set()
    for body, name in re.findall(r"typedef struct \w+ \{([^}]*)\} (\w+);", code):
        names = re.findall(r"(\w+)\s*(?:\[[^\]]*\])?;", body) if name in structs else []
        found |= {f"{name}.{field}" for field in names if field not in ("struct_size", "reserved")}
    return found


def enumerators(header: str) -> set[str]:
    """All but statuses, which have names of their own, switches, which options take as text, and size fixers."""
    code = COMMENT_OR_STRING.sub(" ", header)
    bodies = re.findall(r"typedef enum hoist_(?!status|switch)\w+ \{([^}]*)\}", code)
    return {name for name in re.findall(r"\b(HOIST_\w+) =", " ".join(bodies)) if not name.endswith("FORCE_32")}


def present(source: str, members: set[str]) -> set[str]:
    words = set(re.findall(r"\w+", COMMENT_OR_STRING.sub(" ", source)))
    return {member for member in members if member.rsplit(".", 1)[-1] in words}


def left_out(text: str) -> dict[tuple[str, str], str]:
    entries = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        binding, function, reason = line.split(maxsplit=2)
        entries[binding, function] = reason
    return entries


def findings(wanted: dict[str, set[str]], used: dict[str, set[str]], allowed: dict[tuple[str, str], str]) -> list[str]:
    found = []
    for binding, names in wanted.items():
        for name in sorted(names - used[binding]):
            if (binding, name) not in allowed:
                found.append(f"{binding}: {name} is not reachable: bind it, or say in left_out.txt why not")
    for binding, name in allowed:
        if name not in wanted.get(binding, {name}):
            found.append(f"left_out.txt: {name} is in no header")
        elif name in used.get(binding, set()):
            found.append(f"left_out.txt: {binding} uses {name} after all")
    return found


def read(folder: str, pattern: str) -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / folder).glob(pattern)))


def imported(module: str) -> set[str]:
    """Names of hoist's that a compiled module needs: the Python one stands on hoist.hpp, so its text does not say."""
    printed = subprocess.run(["nm", "-D", "--undefined-only", module], check=True, capture_output=True, text=True)
    return set(re.findall(r"\bhoist_\w+", printed.stdout))


def gather(modules: list[str]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """What each binding must reach, and what it does."""
    headers = read("include/hoist", "*.h")
    functions = declared(headers)
    wanted = {binding: set(functions) for binding in SOURCES}
    used = {binding: called(read(*where)) for binding, where in SOURCES.items()}
    wanted["rust"] |= fields(headers, RUST_STRUCTS)
    used["rust"] |= present(read(*SOURCES["rust"]), wanted["rust"])
    for module in modules:
        members = fields(headers, PYTHON_STRUCTS) | enumerators(headers)
        wanted["python"] = functions | members
        used["python"] = imported(module) | present(read(*PYTHON_SOURCE), members)
    return wanted, used


def main(modules: list[str]) -> int:
    wanted, used = gather(modules)
    allowed = left_out((ROOT / "tests/bindings/left_out.txt").read_text())
    found = findings(wanted, used, allowed)
    counts = ", ".join(f"{len(names)} names from {binding}" for binding, names in wanted.items())
    print("\n".join(found) or f"reachable or left out: {counts}")
    return bool(found)


def selftest() -> int:
    header = 'HOIST_API HOIST_NODISCARD hoist_status_t hoist_a(int);\n/* HOIST_API void hoist_no(void); */\n' \
             "HOIST_API void hoist_b(hoist_x_t* x) HOIST_NOEXCEPT;\n" \
             "typedef struct hoist_s_t {\n size_t struct_size;\n char name[64]; /* it; */\n uint64_t bytes;\n} hoist_s_t;\n" \
             "typedef enum hoist_e_t {\n HOIST_E_ONE = 1,\n HOIST_E_FORCE_32 = 2\n} hoist_e_t;\n"
    assert declared(header) == {"hoist_a", "hoist_b"}, declared(header)
    assert fields(header, {"hoist_s_t"}) == {"hoist_s_t.name", "hoist_s_t.bytes"}
    assert enumerators(header) == {"HOIST_E_ONE"}
    assert present("x.bytes; // name", {"hoist_s_t.name", "hoist_s_t.bytes"}) == {"hoist_s_t.bytes"}
    assert called('hoist_a(1); // hoist_b\nlog("hoist_b")') == {"hoist_a"}
    wanted = {"x": {"hoist_a", "hoist_b"}}
    assert findings(wanted, {"x": {"hoist_a"}}, {}) != []
    assert findings(wanted, {"x": {"hoist_a"}}, {("x", "hoist_b"): "why"}) == []
    assert findings(wanted, {"x": {"hoist_a", "hoist_b"}}, {("x", "hoist_a"): "why"}) != []
    assert findings(wanted, {"x": {"hoist_a", "hoist_b"}}, {("x", "hoist_gone"): "why"}) != []
    really_wanted, really_used = gather([])
    assert {"hoist_device_open", "hoist_version_string", "hoist_device_register"} <= really_wanted["cpp"]
    assert {"hoist_tensor_info_t.version", "hoist_checkpoint_tensor_t.shape"} <= really_wanted["rust"]
    for binding, names in really_used.items():
        assert findings(really_wanted, really_used | {binding: names - {"hoist_unit_begin"}}, {}) != []
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(selftest() if sys.argv[1:] == ["--selftest"] else main(sys.argv[1:]))
