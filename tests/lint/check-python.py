#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks Python files with nothing but Python: syntax, line length, imports and names not used."""

import ast
import sys

COLUMNS = 100


def unused_imports(tree):
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                imported[(alias.asname or alias.name).split(".")[0]] = node.lineno
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return [(line, f"{name} is imported and not used")
            for name, line in imported.items() if name not in used]


def check(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        return [(error.lineno, error.msg)]
    found = unused_imports(tree)
    found += [(number, f"more than {COLUMNS} columns")
              for number, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]
    return found


def main():
    bad = False
    for path in sys.argv[1:]:
        for line, message in sorted(check(path)):
            print(f"{path}:{line}: {message}")
            bad = True
    sys.exit(bad)


if __name__ == "__main__":
    main()
