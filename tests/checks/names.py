# SPDX-License-Identifier: Apache-2.0
"""Names of the contract: hoist_<noun>_<verb>, types end in _t, constants begin with HOIST_, options have their inits."""

import re

import common
import contract

NOUNS = {"budget", "budget_options", "capture", "checkpoint", "device", "event", "host_memory", "log", "manager",
         "manager_options", "memory", "plan", "plan_options", "plugin", "problem", "replan", "replay", "step", "stream", "tensor", "timing", "trace", "unit",
         "effect", "engine", "frame", "graph", "group", "override", "pool", "scope", "sequence", "state", "token",
         "window", "gather"}
VERBS = {"abort", "add", "alias", "begin", "bind", "check", "close", "commit", "create", "destroy", "drain", "end",
         "explain", "export", "get", "import", "init", "launch", "load", "open", "poll", "pop", "prepare", "publish", "push",
         "query", "read", "record", "register", "release", "request", "reserve", "resume", "retain", "set", "simulate", "solve",
         "submit", "suspend", "unbind", "update", "wait", "wrap"}
# Questions about the library or a whole kind, without an object to act on. The list is closed.
WITHOUT_VERB = {"hoist_status_string", "hoist_last_error", "hoist_version_string", "hoist_version_abi",
                "hoist_device_count", "hoist_plan_bound"}


def is_name(name: str) -> bool:
    """hoist_<noun>_<verb>, where an object may follow: hoist_manager_add_unit, hoist_stream_wait_event."""
    words = name.removeprefix("hoist_").split("_")
    return name.startswith("hoist_") and any(
        "_".join(words[:cut]) in NOUNS and words[cut] in VERBS for cut in range(1, len(words)))


def check_functions(header: contract.Header, findings: common.Findings) -> None:
    for function in header.functions:
        if function.name not in WITHOUT_VERB and not is_name(function.name):
            findings.add(function.header, function.line,
                         f"{function.name} is not hoist_<noun>_<verb> with a noun and a verb of the lists")
    exported = {function.name for function in header.functions}
    for match in re.finditer(r"\b(hoist_\w+)(?<!_t)\s*\(", header.code):
        if match.group(1) not in exported:
            findings.add(header.path, contract.line_of(header.code, match.start()),
                         f"{match.group(1)} is declared without HOIST_API")


def check_types(header: contract.Header, findings: common.Findings) -> None:
    aliases = re.finditer(r"\btypedef\s+[^;{(]*?\b(\w+)\s*;|\btypedef\s+[^;{]*?\(\s*\*\s*(\w+)\s*\)", header.code)
    names = [(alias.group(1) or alias.group(2), contract.line_of(header.code, alias.start())) for alias in aliases]
    names += [(record.name, record.line) for record in header.records]
    for name, line in names:
        if not re.fullmatch(r"hoist_[a-z0-9_]+_t", name):
            findings.add(header.path, line, f"type {name} is not hoist_<name>_t")


def check_options(header: contract.Header, findings: common.Findings) -> None:
    """All defaults can be had by a macro, and by a call where there is no macro."""
    for record in header.records:
        if not record.name.endswith("_options_t"):
            continue
        init = record.name.removesuffix("_t") + "_init"
        if not re.search(rf"^\s*#\s*define\s+{init.upper()}\b", header.code, flags=re.M):
            findings.add(header.path, record.line, f"{record.name} has no {init.upper()}")
        if init not in {function.name for function in header.functions}:
            findings.add(header.path, record.line, f"{record.name} has no {init}")


def check_constants(header: contract.Header, findings: common.Findings) -> None:
    names = [(match.group(1), contract.line_of(header.code, match.start()))
             for match in re.finditer(r"^\s*#\s*define\s+(\w+)", header.code, flags=re.M)]
    for record in header.records:
        if record.kind == "enum":
            names += [(name, record.line) for name, _ in record.members]
            last = record.members[-1]
            if not last[0].endswith("_FORCE_32") or last[1] != "0x7fffffff":
                findings.add(header.path, record.line, f"{record.name} does not end in a ..._FORCE_32 = 0x7fffffff")
            for name, value in record.members:
                if not value:
                    findings.add(header.path, record.line, f"{name} has no value; the numbers are part of the ABI")
    for name, line in names:
        if not re.fullmatch(r"HOIST_[A-Z0-9_]+", name):
            findings.add(header.path, line, f"constant {name} is not HOIST_<NAME>")


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    for header in contract.headers(options.root):
        check_functions(header, findings)
        check_types(header, findings)
        check_options(header, findings)
        check_constants(header, findings)
    findings.exit()


if __name__ == "__main__":
    main()
