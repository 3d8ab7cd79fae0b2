# SPDX-License-Identifier: Apache-2.0
"""The planner behind plan_cli's pipe."""

import json
import os
import subprocess


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.message, self.hint = error["code"], error["message"], error["hint"]


class Client:
    def __init__(self, path=None):
        path = path or os.environ["HOIST_PLAN_CLI"]
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command, problem, **more):
        self.process.stdin.write(json.dumps({"command": command, "problem": problem, **more}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "plan_cli died"
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
