# SPDX-License-Identifier: Apache-2.0
"""The gates on small trees: good ones pass, and each kind of defect is found where it is."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import run

HERE = Path(__file__).resolve().parent

HEADER = """/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOIST_UNIT_H
#define HOIST_UNIT_H
#include <stddef.h>
#define HOIST_API
/** A thing. */
typedef struct hoist_unit_t {
  size_t struct_size; /**< Size. */
  int (*call)(void* self); /**< Slot. */
} hoist_unit_t;
/** Kinds. */
typedef enum hoist_kind_t {
  HOIST_KIND_ONE = 1,              /**< One, the first. */
  HOIST_KIND_FORCE_32 = 0x7fffffff /**< Fixes the size. */
} hoist_kind_t;
/** Initialiser. */
#define HOIST_UNIT_INIT \\
  { sizeof(hoist_unit_t), NULL }
/** @brief Adds. @threadsafe @nonblocking @since 0.1 */
HOIST_API int hoist_unit_add(hoist_unit_t* unit);
#endif
"""
MAP = "HOIST_0.1 {\n  global:\n    hoist_unit_add;\n  local:\n    *;\n};\n"
LIBRARY = '#include "hoist/unit.h"\nint hoist_unit_add(hoist_unit_t* unit) { return unit->struct_size == 0; }\n'


def tree(root: Path, **files: str) -> Path:
    """Writes files; __ in a name stands for a slash, as in include__hoist__unit.h."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def contract_tree(root: Path, header: str = HEADER, **files: str) -> Path:
    umbrella = '#ifndef HOIST_H\n#define HOIST_H\n#include "hoist/unit.h"\n#endif\n'
    return tree(root, **{"include__hoist__unit.h": header, "include__hoist__hoist.h": umbrella,
                         "include__hoist__device_ops.h": "#ifndef HOIST_D\n#define HOIST_D\n#endif\n",
                         "capi__hoist.map": MAP, **files})


def gate(name: str, root: Path, *arguments: str) -> tuple[int, str]:
    result = subprocess.run([sys.executable, str(HERE / f"{name}.py"), "--root", str(root), "--build",
                             str(root / "build"), *arguments], capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def holds(name: str, root: Path, *arguments: str) -> None:
    code, said = gate(name, root, *arguments)
    assert code == 0, said


def fails(name: str, root: Path, expected: str, *arguments: str) -> None:
    code, said = gate(name, root, *arguments)
    assert code != 0
    assert expected in said, said


def build_library(root: Path, source: str = LIBRARY, map_text: str = MAP) -> None:
    (root / "build/lib").mkdir(parents=True, exist_ok=True)
    tree(root, library_map=map_text)
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", f"-I{root / 'include'}", "-x", "c", "-", "-x", "none",
                    f"-Wl,--version-script={root / 'library_map'}", "-o", str(root / "build/lib/libhoist.so.0")],
                   input=source, text=True, check=True)
    (root / "library_map").unlink()


def line_of(text: str, part: str) -> int:
    return text.count("\n", 0, text.index(part)) + 1


def test_every_gate_has_a_test_here():
    text = Path(__file__).read_text()
    for name in run.GATES:
        assert name == "selftest" or f"def test_{name}" in text, name


@pytest.mark.parametrize("name", [name for name in run.GATES if name not in ("selftest", "docs")])
def test_nothing_to_check_is_no_success(name, tmp_path):
    code, _ = gate(name, tmp_path, *(["--home", str(tmp_path)] if name == "tidy" else []))
    assert code != 0


@pytest.mark.parametrize("old, new, expected", [
    ("@threadsafe ", "", "hoist_unit_add says nothing; exactly one of @threadsafe"),
    ("@threadsafe", "@threadsafe @confined", "says @threadsafe and @confined"),
    ("@nonblocking ", "", "exactly one of @blocking, @nonblocking"),
    ("@since 0.1 */\nHOIST_API", "*/\nHOIST_API", "does not say @since"),
    ("/** @brief Adds. @threadsafe @nonblocking @since 0.1 */\n", "int x;\n", "has no comment before it"),
])
def test_words(old, new, expected, tmp_path):
    holds("words", contract_tree(tmp_path))
    bad = HEADER.replace(old, new)
    line = line_of(bad, "HOIST_API int")
    fails("words", contract_tree(tmp_path, bad), "include/hoist/unit.h:" + str(line) + ": hoist_unit_add")
    fails("words", tmp_path, expected)


@pytest.mark.parametrize("declaration", [
    "HOIST_API hoist_status_t hoist_unit_add(",
    "HOIST_API HOIST_NODISCARD hoist_status_t\nhoist_unit_add(",
])
def test_words_of_a_status(declaration, tmp_path):
    bad = HEADER.replace("HOIST_API int hoist_unit_add(", declaration)
    assert bad != HEADER
    holds("words", contract_tree(tmp_path, bad.replace("@brief Adds.", "@brief Adds. @return HOIST_OK.")))
    line = line_of(bad, "hoist_unit_add(")
    fails("words", contract_tree(tmp_path, bad),
          f"include/hoist/unit.h:{line}: hoist_unit_add returns a status and says no @return")


def test_words_of_the_library(tmp_path):
    where = '// call hoist_unit_add\nguarded("hoist_unit_add");\n'
    holds("words", contract_tree(tmp_path, **{"src__unit__unit.cpp": where, "capi__unit.cpp": where}))
    fails("words", tree(tmp_path, **{"capi__unit.cpp": where + 'fail("call hoist_unit_add first");\n'}),
          "capi/unit.cpp:3: a text names hoist_unit_add")


@pytest.mark.parametrize("old, new, expected", [
    ("hoist_unit_add", "hoist_unit_frobnicate", "hoist_unit_frobnicate is not hoist_<noun>_<verb>"),
    ("hoist_unit_add", "hoist_add", "hoist_add is not"),
    ("hoist_unit_add", "unit_add", "unit_add is not"),
    ("HOIST_API int hoist_unit_add", "int hoist_unit_add", "hoist_unit_add is declared without HOIST_API"),
    ("} hoist_unit_t", "} hoist_unit", "type hoist_unit is not"),
    ("HOIST_KIND_ONE", "KIND_ONE", "constant KIND_ONE is not"),
    ("HOIST_KIND_ONE = 1", "HOIST_KIND_ONE", "HOIST_KIND_ONE has no value"),
    ("HOIST_KIND_FORCE_32 = 0x7fffffff", "HOIST_KIND_LAST = 7", "hoist_kind_t does not end in"),
    ("#define HOIST_UNIT_INIT", "#define UNIT_INIT", "constant UNIT_INIT is not"),
    ("} hoist_unit_t", "} hoist_unit_options_t", "hoist_unit_options_t has no HOIST_UNIT_OPTIONS_INIT"),
    ("} hoist_unit_t", "} hoist_unit_options_t", "hoist_unit_options_t has no hoist_unit_options_init"),
])
def test_names(old, new, expected, tmp_path):
    holds("names", contract_tree(tmp_path))
    fails("names", contract_tree(tmp_path, HEADER.replace(old, new)), expected)
    fails("names", tmp_path, "include/hoist/unit.h:")


@pytest.mark.parametrize("old, new, expected", [
    ("#include <stddef.h>\n", "", "alone does not compile with gcc -std=c11"),
    ("#ifndef HOIST_UNIT_H\n", "#ifndef HOIST_OTHER\n", "alone does not compile"),
    ("#include <stddef.h>", "#include <stddef.h>\n#include <string.h>", "unit.h:5: includes <string.h>"),
    ("#include <stddef.h>", '#include <stddef.h>\n#include "unit.h"', 'unit.h:5: includes "unit.h"'),
    ("hoist_unit_t* unit)", "hoist_unit_t* class)", "alone does not compile with g++ -std=c++20"),
    ("sizeof(hoist_unit_t), NULL", "sizeof(hoist_unit_t)", "HOIST_UNIT_INIT does not compile"),
])
def test_headers(old, new, expected, tmp_path):
    holds("headers", contract_tree(tmp_path))
    fails("headers", contract_tree(tmp_path, HEADER.replace(old, new)), expected)


def test_headers_umbrella(tmp_path):
    other = HEADER.replace("UNIT", "OTHER").replace("unit", "other").replace("kind", "sort").replace("KIND", "SORT")
    fails("headers", contract_tree(tmp_path, **{"include__hoist__other.h": other}),
          "include/hoist/hoist.h:1: does not include hoist/other.h")


def test_symbols(tmp_path):
    build_library(contract_tree(tmp_path))
    holds("symbols", tmp_path)


@pytest.mark.parametrize("declared, mapped, defined, expected", [
    (True, False, True, "unit.h:20: hoist_unit_add is not in capi/hoist.map"),
    (True, True, False, "hoist_unit_add is not exported"),
    (False, True, True, "capi/hoist.map:3: hoist_unit_add is in no public header"),
])
def test_symbols_differ(declared, mapped, defined, expected, tmp_path):
    header = HEADER if declared else HEADER.replace("HOIST_API int hoist_unit_add(hoist_unit_t* unit);\n", "")
    root = contract_tree(tmp_path, header)
    build_library(root, LIBRARY if defined else "int unused;\n")
    tree(root, **{"capi__hoist.map": MAP if mapped else "HOIST_0.1 {\n  local:\n    *;\n};\n"})
    fails("symbols", root, expected)


def test_symbols_extra(tmp_path):
    root = contract_tree(tmp_path)
    build_library(root, LIBRARY + "int leaked(void) { return 1; }\n",
                  MAP.replace("hoist_unit_add;", "hoist_unit_add; leaked;"))
    fails("symbols", root, "exports leaked, which capi/hoist.map does not list")


def test_layout(tmp_path):
    layout = (HERE.parents[1] / "capi/abi/layout_0.c").read_text()
    head = layout[:layout.index("FROZEN(sizeof(void*)")] + "FROZEN(sizeof(void*), 8);\n"
    root = contract_tree(tmp_path)
    tree(root, **{"capi__abi__layout_0.c": head})
    fails("layout", root, "include/hoist/unit.h:7: sizeof(hoist_unit_t) has no assert")
    fails("layout", root, "include/hoist/unit.h:7: offsetof(hoist_unit_t, call) has no assert")
    fails("layout", root, "include/hoist/unit.h:12: HOIST_KIND_ONE has no assert")
    holds("layout", root, "--write")
    holds("layout", root)
    fails("layout", contract_tree(root, HEADER.replace("size_t struct_size;", "int early; size_t struct_size;")),
          "offsetof(hoist_unit_t, early) has no assert")
    fails("layout", contract_tree(root, HEADER.replace("size_t struct_size;", "size_t struct_size[2];")),
          "the frozen layout does not hold")
    fails("layout", contract_tree(root, HEADER.replace("HOIST_KIND_ONE = 1", "HOIST_KIND_ONE = 2")),
          "HOIST_KIND_ONE is not 1")


def test_abi(tmp_path):
    root = contract_tree(tmp_path)
    tree(root, **{"capi__abi__suppressions.ini": ""})
    build_library(root)
    fails("abi", root, "capi/abi/libhoist.abi:1: is missing")
    holds("abi", root, "--record")
    assert str(tmp_path) not in (root / "capi/abi/libhoist.abi").read_text()
    holds("abi", root)
    contract_tree(root, HEADER.replace("size_t struct_size;", "long struct_size;"))
    build_library(root)
    fails("abi", root, "the library's ABI differs")


@pytest.mark.parametrize("path, include, expected", [
    ("src/base/x.hpp", "device/device.hpp", "base may not see device"),
    ("src/device/x.hpp", "exec/executor.hpp", "device may not see exec"),
    ("src/plan/x.cpp", "trace/trace.hpp", "plan may not see trace"),
    ("src/plan/x.cpp", "hoist/manager.h", "plan may include of hoist/ only"),
    ("src/trace/x.cpp", "memory/arena.hpp", "trace may not see memory"),
    ("src/backends/host/x.cpp", "base/error.hpp", "backends may not see base"),
    ("src/backends/host/x.cpp", "hoist/plan.h", "backends may include of hoist/ only"),
    ("src/offload/x.cpp", "state/set.hpp", "offload may not see state"),
    ("tools/x.cpp", "plan/planner.hpp", "tools may not see plan"),
    ("bindings/cpp/include/hoist/x.hpp", "capi/guard.hpp", "bindings may not see capi"),
    ("src/budget/x.cpp", "capi/guard.hpp", "budget may not see capi"),
])
def test_rooms(path, include, expected, tmp_path):
    good = {"src/exec/good.cpp": '#include "device/device.hpp"\n#include "exec/own.hpp"\n#include "hoist/plan.h"\n',
            "capi/good.cpp": '#include "offload/manager.hpp"\n'}
    root = tree(tmp_path, **{name.replace("/", "__"): text for name, text in good.items()})
    holds("rooms", root)
    tree(root, **{path.replace("/", "__"): f'// A comment.\n#include "{include}"\n'})
    fails("rooms", root, f"{path}:2: includes \"{include}\": {expected}")


def test_rooms_unknown(tmp_path):
    fails("rooms", tree(tmp_path, **{"src__attic__x.cpp": "int x;\n"}), "src/attic/x.cpp:1: room attic is not known")


@pytest.mark.parametrize("path, text, expected", [
    ("include/hoist/x.h", "\n" * 301, "include/hoist/x.h:301: has 301 lines, at most 300"),
    ("capi/x.cpp", "\n" * 251, "capi/x.cpp:251: has 251 lines, at most 250"),
    ("src/base/x.cpp", "\n" * 401, "src/base/x.cpp:401: has 401 lines, at most 400"),
    ("capi/x.cpp", "\nvoid f() {\n" + "  g();\n" * 19 + "}\n", "capi/x.cpp:2: f has 21 lines, at most 20"),
    ("src/base/x.cpp", "\nvoid f() {\n" + "  g();\n" * 39 + "}\n", "src/base/x.cpp:2: f has 41 lines, at most 40"),
])
def test_sizes(path, text, expected, tmp_path):
    holds("sizes", tree(tmp_path, **{"src__base__good.cpp": "void f() {\n" + "  g();\n" * 38 + "}\n"}))
    fails("sizes", tree(tmp_path, **{path.replace("/", "__"): text}), expected)


SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


@pytest.mark.parametrize("name, text, expected", [
    ("x.cpp", "int x;\n", "x.cpp:1: does not say SPDX"),
    ("x.cpp", SPDX + "// see /ho" + "me/somebody/notes\n", "x.cpp:2: names a path of a machine: /ho" + "me/somebody"),
    ("x.md", "at /ro" + "ot/.cargo\n", "x.md:1: names a path of a machine"),
    ("x.md", "from pypi" + ".org\n", "x.md:1: names the host of a package registry: pypi" + ".org"),
    ("x.toml", 'index = "https://index.crates' + '.io"\n', "x.toml:1: names the host"),
])
def test_hygiene(name, text, expected, tmp_path):
    holds("hygiene", tree(tmp_path, **{"good.cpp": SPDX + "// ${HOME}/home/x and a/work/b are no machine's\n"}))
    fails("hygiene", tree(tmp_path, **{name: text}), expected)


def test_versions(tmp_path):
    good = {"VERSION": "0.1.0\n", "CHANGELOG.md": "# Changes\n\n## 0.1.0\n\n## 0.0.9\n", "capi__hoist.map": MAP,
            "include__hoist__version.h": "#define HOIST_VERSION_MAJOR 0\n#define HOIST_VERSION_MINOR 1\n"
                                         "#define HOIST_VERSION_PATCH 0\n",
            "bindings__rust__Cargo.toml": '[package]\nversion = "0.1.0"\n'}
    holds("versions", tree(tmp_path, **good))
    fails("versions", tree(tmp_path, VERSION="0.1.1\n"), "include/hoist/version.h:1: says version 0.1.0, VERSION says 0.1.1")
    fails("versions", tmp_path, "CHANGELOG.md:3: says version 0.1.0")
    fails("versions", tmp_path, "bindings/rust/Cargo.toml:2: says version 0.1.0")
    fails("versions", tree(tmp_path, VERSION="0.2.0\n"), "capi/hoist.map:1: says version 0.1, VERSION says 0.2")


def test_versions_of_an_open_level(tmp_path):
    header = "#define HOIST_VERSION_MAJOR 0\n#define HOIST_VERSION_MINOR 1\n#define HOIST_VERSION_PATCH 0\n"
    kept = {"tests__compat__v0_1__include__hoist__version.h": header, "tests__compat__v0_1__plugin__my.c": "int x;\n"}
    root = tree(tmp_path, VERSION="0.1.0\n", **kept, **{
        "CHANGELOG.md": "# Changes\n\n## 0.1.0 (not released)\n", "capi__hoist.map": MAP,
        "include__hoist__version.h": header, "examples__c__06_my_device__my.c": "int x;\n"})
    holds("versions", root)
    fails("versions", tree(root, **{"include__hoist__new.h": "int y;\n"}), "v0_1/include/hoist/new.h:1: is in only one of")
    tree(root, **{"tests__compat__v0_1__include__hoist__new.h": "int y;\nint z;\n"})
    fails("versions", root, "v0_1/include/hoist/new.h:2: lags behind include/hoist/new.h: cp include/hoist/*.h")
    tree(root, **{"include__hoist__new.h": "int y;\nint z;\n", "examples__c__06_my_device__my.c": "int y;\n"})
    fails("versions", root, "v0_1/plugin/my.c:1: lags behind examples/c/06_my_device/my.c: tests/compat/keep_plugin.sh")
    holds("versions", tree(root, **{"CHANGELOG.md": "# Changes\n\n## 0.1.0\n"}))  # released: it stays as it was


def test_format(tmp_path):
    root = tree(tmp_path, **{".clang-format": "BasedOnStyle: Google\n", "x.cpp": "int x = 1;\n"})
    holds("format", root)
    fails("format", tree(root, **{"y.cpp": "int x;\nint  y;\n"}), "y.cpp:2: not as clang-format writes it")
    holds("format", root, "--write")
    holds("format", root)


def test_shell(tmp_path):
    holds("shell", tree(tmp_path, script="#!/usr/bin/env bash\necho hello\n"))
    fails("shell", tree(tmp_path, script="#!/usr/bin/env bash\nrm $1/*\n"), "script:2:4: note: Double quote")


def test_snippets(tmp_path):
    page = "# P\n\n<!-- quote: a.c#loop -->\n```c\nrun();\n```\n"
    source = "int main(void) {\n  /* [loop] */\n  run();\n  /* [end] */\n}\n"
    root = tree(tmp_path, **{"doc__p.md": page, "a.c": source})
    holds("snippets", root)
    fails("snippets", tree(root, **{"a.c": source.replace("run", "walk")}), "doc/p.md:3: differs from a.c [loop]")
    tree(root, **{"doc__p.md": page.replace("run();\n", "")})
    holds("snippets", root, "--write")
    assert (root / "doc/p.md").read_text() == page.replace("run", "walk")
    holds("snippets", root)
    fails("snippets", tree(root, **{"a.c": source.replace("[loop]", "[ring]")}), "doc/p.md:3: a.c has no part [loop]")
    fails("snippets", tree(root, **{"README.md": "```c\nint x;\n```\n"}), "README.md:1: C code that is quoted from no")


def test_links(tmp_path):
    page = "# P\n## Not `there`, yet\n## Twice\n## Twice\n```sh\n# no-heading\n[](gone.md)\n```\n[up](#p)\n"
    root = tree(tmp_path, **{"README.md": "[page](doc/p.md#not-there-yet) [out](https://example.org) [2](doc/p.md#twice-1)\n",
                             "doc__p.md": page,
                             "x.h": "/* see doc/p.md */\n"})
    holds("links", root)
    fails("links", tree(root, **{"doc__q.md": "\n[p](gone.md)\n"}), "doc/q.md:2: links to gone.md, which is not there")
    fails("links", tree(root, **{"doc__q.md": "[p](p.md#gone)\n"}), "doc/q.md:1: links to p.md#gone, but there is no such heading")
    fails("links", tree(root, **{"doc__q.md": "[p](p.md#no-heading)\n"}), "no such heading")
    fails("links", tree(root, **{"doc__q.md": "# Q\n\n[p](#p)\n"}), "doc/q.md:3: links to #p, but there is no such heading")
    tree(root, **{"doc__q.md": "# Q\n"})
    fails("links", tree(root, **{"x.h": "/* see doc/gone.md */\n"}), "x.h:1: names doc/gone.md, which is not there")


def test_docs(tmp_path):
    config = (HERE.parents[1] / "doc/Doxyfile").read_text()
    pages = {"README.md": "# hoist\n", "CONTRIBUTING.md": "# C\n", "CHANGELOG.md": "# C\n", "tools__README.md": "# T\n",
             "doc__Doxyfile": config}
    header = HEADER.replace("#ifndef HOIST_UNIT_H", "/**\n * @file\n * @brief Units.\n */\n#ifndef HOIST_UNIT_H")
    header = header.replace("#define HOIST_API\n", "")
    root = tree(tmp_path, **pages, **{"include__hoist__unit.h": header})
    holds("docs", root)
    bad = header.replace("struct_size; /**< Size. */", "struct_size;")
    fails("docs", tree(root, **{"include__hoist__unit.h": bad}),
          f"include/hoist/unit.h:{line_of(bad, 'struct_size;')}: error: Member struct_size")
    bad = header.replace("/** @brief Adds. @threadsafe @nonblocking @since 0.1 */\n", "")
    fails("docs", tree(root, **{"include__hoist__unit.h": bad}), "hoist_unit_add")
    bad = header.replace("@brief Adds.", "@brief Adds to ::hoist_gone_t. @param gone No such.")
    fails("docs", tree(root, **{"include__hoist__unit.h": bad}), "gone")


@pytest.mark.skipif(shutil.which("clang-tidy") is None, reason="clang-tidy is not there")
def test_tidy(tmp_path):
    good, bad = "int* f() { return nullptr; }\n", "int* f() { return 0; }\n"
    root = tree(tmp_path, **{".clang-tidy": (HERE.parents[1] / ".clang-tidy").read_text(), "src__base__x.cpp": good})
    source = root / "src/base/x.cpp"
    tree(root, **{"build__compile_commands.json":
                  f'[{{"directory": "{root}", "command": "g++ -c {source}", "file": "{source}"}}]'})
    home = ("--home", str(root / "home"))
    holds("tidy", root, *home)
    source.write_text(bad)
    fails("tidy", root, "src/base/x.cpp:1:19: error: use nullptr", *home)
    fails("tidy", root, "src/base/x.cpp:1:19: error: use nullptr", *home)
    source.write_text(good)
    holds("tidy", root, *home, "--all")
