# SPDX-License-Identifier: Apache-2.0
"""Each exported function says who may call it from where, whether it may block, and which statuses it returns."""

import re

import common
import contract

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


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    for header in contract.headers(options.root):
        check(header, findings)
    findings.exit()


if __name__ == "__main__":
    main()
