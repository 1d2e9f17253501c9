#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a command and prints each line of its output with the time at which it came, in ms."""

import subprocess
import sys
import time


def main():
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            print(time.time_ns() // 1_000_000, line, end="", flush=True)
    sys.exit(child.returncode)


if __name__ == "__main__":
    main()
