"""Problems of binding meshes to bones, and the one judge of every program's answers.

Reads what the benches of anim-skin wrote: a mesh, bones or a source, and our own time and answer. Run as a program, it
judges ours. Rows are judged as a program leaves them, before anything divides them by their sum.
"""

import json
import sys
import time

import numpy as np


class Problem:
    """A mesh and what to find on it; metres and seconds."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.told = json.load(file)
        self.task = self.told["task"]
        self.positions = np.array(self.told["positions"], dtype=float)
        self.triangles = np.array(self.told["triangles"], dtype=np.int64)
        # B x 2 x 3: heads and tails.
        self.bones = np.array(self.told.get("bones", []), dtype=float)

    def report_weights(self, program, seconds, weights):
        """* weights: vertices x bones, dense. A row is empty if nothing in it is above 1e-6."""
        sums = np.asarray(weights).sum(axis=1)
        self.report(program, seconds, sum_error=np.abs(sums - 1).max(), empty=np.sum(sums < 1e-6))

    def report_distances(self, program, seconds, distances):
        """Against the exact distance on the sphere of radius 1 about the origin, as |d - exact| / |exact|."""
        toward = self.positions / np.linalg.norm(self.positions, axis=1, keepdims=True)
        source = toward[self.told["source"]]
        exact = np.arccos(np.clip(toward @ source, -1.0, 1.0))
        error = np.linalg.norm(np.asarray(distances) - exact) / np.linalg.norm(exact)
        self.report(program, seconds, error=error)

    def report(self, program, seconds, **numbers):
        """Prints one line of JSON."""
        line = {"task": self.task, "program": program, "seconds": seconds}
        line.update((name, float(number)) for name, number in numbers.items())
        print(json.dumps(line), flush=True)


def fastest(work, rounds=3):
    """The least time of some rounds, and the answer."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - begin)
    return best, answer


if __name__ == "__main__":
    for path in sys.argv[1:]:
        problem = Problem(path)
        for ours in problem.told["ours"]:
            if "distances" in ours:
                problem.report_distances(ours["program"], ours["seconds"], ours["distances"])
            else:
                weights = np.zeros((len(problem.positions), len(problem.bones)))
                for vertex, row in enumerate(ours["rows"]):
                    for joint, weight in row:
                        weights[vertex, joint] = weight
                problem.report_weights(ours["program"], ours["seconds"], weights)
