# SPDX-License-Identifier: Apache-2.0
"""Code in the pages is quoted from files that are compiled and run, so that it cannot drift.

A quote in a page is a fenced block after `<!-- quote: FILE#PART -->`; in the file the part stands between the lines
`/* [PART] */` and `/* [end] */`. --write puts the present text into the pages. C and C++ blocks without a quote are
refused: nobody compiles them.
"""

import re
import textwrap
from pathlib import Path

import common

QUOTE = re.compile(r"<!-- quote: (?P<file>[^#\s]+)#(?P<part>[\w-]+) -->\n```(?P<language>\w*)\n(?P<text>.*?)^```$",
                   flags=re.M | re.S)
CODE = re.compile(r"^```(?:c|cpp|c\+\+|C)$", flags=re.M)


def part(root: Path, file: str, name: str) -> str | None:
    path = root / file
    text = path.read_text() if path.is_file() else ""
    match = re.search(rf"^[^\n]*\[{re.escape(name)}\][^\n]*\n(.*?)^[^\n]*\[end\][^\n]*$", text, flags=re.M | re.S)
    return textwrap.dedent(match.group(1)) if match else None


def check(root: Path, page: Path, write: bool, findings: common.Findings) -> int:
    """Checks a page's quotes and returns how many it has."""
    text = page.read_text()
    quotes = list(QUOTE.finditer(text))
    for quote in quotes:
        line = text.count("\n", 0, quote.start()) + 1
        wanted = part(root, quote["file"], quote["part"])
        if wanted is None:
            findings.add(page, line, f"{quote['file']} has no part [{quote['part']}]")
        elif wanted != quote["text"] and not write:
            findings.add(page, line, f"differs from {quote['file']} [{quote['part']}]; snippets.py --write")
    quoted = {quote.start() + quote.group().index("```") for quote in quotes}
    for block in CODE.finditer(text):
        if block.start() not in quoted:
            findings.add(page, text.count("\n", 0, block.start()) + 1, "C code that is quoted from no compiled file")
    if write:
        fill = lambda quote: (f"<!-- quote: {quote['file']}#{quote['part']} -->\n```{quote['language']}\n"
                              f"{part(root, quote['file'], quote['part']) or quote['text']}```")
        page.write_text(QUOTE.sub(fill, text))
    return len(quotes)


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="put the present text into the pages")
    options = parser.parse_args()
    findings = common.Findings(options.root)
    pages = [path for path in common.files(options.root, ".md")
             if path.parent == options.root or path.is_relative_to(options.root / "doc")]
    quotes = sum(check(options.root, page, options.write, findings) for page in pages)
    if quotes == 0:
        findings.add(options.root / "README.md", 1, "no page quotes any code: has the form of a quote changed?")
    findings.exit()


if __name__ == "__main__":
    main()
