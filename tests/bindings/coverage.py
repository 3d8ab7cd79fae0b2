# SPDX-License-Identifier: Apache-2.0
"""coverage.py [PYTHON_MODULE]: every function of the headers is called by each binding, or left_out.txt says why not.

A call counts where the name stands in a binding's code, comments and strings apart; for Python, where the compiled
module needs it. The list has lines of "binding function reason"; a line for a function that is called after all, or
is in no header, fails too.
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
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def declared(header: str) -> set[str]:
    """Names of the functions that a header declares."""
    code = COMMENT_OR_STRING.sub(" ", header)
    return set(re.findall(r"\bHOIST_API\b[^;({]*?\b(hoist_\w+)\s*\(", code))


def called(source: str) -> set[str]:
    """Names of hoist's that a source uses."""
    return set(re.findall(r"\bhoist_\w+", COMMENT_OR_STRING.sub(" ", source)))


def left_out(text: str) -> dict[tuple[str, str], str]:
    entries = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        binding, function, reason = line.split(maxsplit=2)
        entries[binding, function] = reason
    return entries


def findings(functions: set[str], calls: dict[str, set[str]], allowed: dict[tuple[str, str], str]) -> list[str]:
    found = []
    for binding, names in calls.items():
        for function in sorted(functions - names):
            if (binding, function) not in allowed:
                found.append(f"{binding}: {function} is not reachable: bind it, or say in left_out.txt why not")
    for binding, function in allowed:
        if function not in functions:
            found.append(f"left_out.txt: {function} is in no header")
        elif function in calls.get(binding, set()):
            found.append(f"left_out.txt: {binding} calls {function} after all")
    return found


def read(folder: str, pattern: str) -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / folder).glob(pattern)))


def imported(module: str) -> set[str]:
    """Names of hoist's that a compiled module needs: the Python one stands on hoist.hpp, so its text does not say."""
    printed = subprocess.run(["nm", "-D", "--undefined-only", module], check=True, capture_output=True, text=True)
    return set(re.findall(r"\bhoist_\w+", printed.stdout))


def main(modules: list[str]) -> int:
    functions = declared(read("include/hoist", "*.h"))
    calls = {binding: called(read(*where)) for binding, where in SOURCES.items()}
    calls |= {"python": imported(module) for module in modules}
    allowed = left_out((ROOT / "tests/bindings/left_out.txt").read_text())
    found = findings(functions, calls, {key: reason for key, reason in allowed.items() if key[0] in calls})
    print("\n".join(found) or f"{len(functions)} functions, each reachable from {', '.join(calls)} or left out")
    return bool(found)


def selftest() -> int:
    header = 'HOIST_API HOIST_NODISCARD hoist_status_t hoist_a(int);\n/* HOIST_API void hoist_no(void); */\n' \
             "HOIST_API void hoist_b(hoist_x_t* x) HOIST_NOEXCEPT;\n"
    assert declared(header) == {"hoist_a", "hoist_b"}, declared(header)
    assert called('hoist_a(1); // hoist_b\nlog("hoist_b")') == {"hoist_a"}
    assert findings({"hoist_a", "hoist_b"}, {"x": {"hoist_a"}}, {}) != []
    assert findings({"hoist_a", "hoist_b"}, {"x": {"hoist_a"}}, {("x", "hoist_b"): "why"}) == []
    assert findings({"hoist_a"}, {"x": {"hoist_a"}}, {("x", "hoist_a"): "why"}) != []
    assert findings({"hoist_a"}, {"x": {"hoist_a"}}, {("x", "hoist_gone"): "why"}) != []
    real = declared(read("include/hoist", "*.h"))
    assert {"hoist_device_open", "hoist_version_string", "hoist_unit_begin", "hoist_device_register"} <= real
    for binding, where in SOURCES.items():
        names = called(read(*where))
        assert "hoist_unit_begin" in names, binding
        assert findings(real, {binding: names - {"hoist_unit_begin"}}, {}) != []
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(selftest() if sys.argv[1:] == ["--selftest"] else main(sys.argv[1:]))
