# SPDX-License-Identifier: Apache-2.0
"""Each exported function says who may call it from where, whether it may block, and which statuses it returns. What the
library tells users names none of them: a text is read in every language."""

import re
from pathlib import Path

import common
import contract

LITERAL = re.compile(r'"((?:\\.|[^"\\])*)"')
KINDS = (("@threadsafe", "@externsync", "@confined"), ("@blocking", "@nonblocking"))


def check(header: contract.Header, findings: common.Findings) -> None:
    for function in header.functions:
        if not function.comment:
            findings.add(function.header, function.line, f"{function.name} has no comment before it")
            continue
        for words in KINDS:
            said = re.findall("|".join(f"{word}\\b" for word in words), function.comment)
            if len(said) != 1:
                findings.add(function.header, function.line,
                             f"{function.name} says {' and '.join(said) or 'nothing'}; exactly one of {', '.join(words)}")
        if "@since" not in function.comment:
            findings.add(function.header, function.line, f"{function.name} does not say @since")
        if function.result == "hoist_status_t" and "@return" not in function.comment:
            findings.add(function.header, function.line, f"{function.name} returns a status and says no @return")


def check_texts(path: Path, functions: set[str], findings: common.Findings) -> None:
    """A literal that is a name and no more says where a failure was, or what is looked up."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for literal in LITERAL.findall(line.split("//")[0]):
            if literal not in functions and (named := functions.intersection(re.findall(r"\w+", literal))):
                findings.add(path, number, f"a text names {min(named)}, which is called so in C alone: say it in words")


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    headers = contract.headers(options.root)
    for header in headers:
        check(header, findings)
    functions = {function.name for header in headers for function in header.functions}
    for folder in ("src/", "capi/"):
        for path in common.files(options.root, ".cpp", ".hpp", under=folder, required=False):
            check_texts(path, functions, findings)
    findings.exit()


if __name__ == "__main__":
    main()
