"""A hanging sheet, and the one judge of every program's answer.

A square metre of 0.2 kg/m^2, n x n vertices, starts horizontal with one edge pinned and swings for a second of 60 frames.
Reads what the bench `sheet` of anim-sim wrote: sizes, and our own times and positions. Run as a program, it judges
ours. Stretch is that of the edges that lead away from the pinned one, at the end; times are of the processor, summed
over threads, the mean of the later two thirds of the frames.
"""

import json
import sys
import time

import numpy as np

DENSITY = 0.2
GRAVITY = 9.81
FPS = 60


class Sheet:
    """One size of it; metres, kilograms, seconds."""

    def __init__(self, told):
        self.size, self.frames, self.ours = told["size"], told["frames"], told["ours"]
        self.spacing = 1.0 / (self.size - 1)
        self.vertex_mass = DENSITY * self.spacing**2

    def run(self, program, step, positions):
        """Times `step()`, a frame each, then judges what `positions()` returns."""
        later = self.frames - self.frames // 3
        for _ in range(self.frames - later):
            step()
        begin = time.process_time()
        for _ in range(later):
            step()
        self.report(program, (time.process_time() - begin) / later, positions())

    def report(self, program, seconds, positions):
        """Prints one line of JSON. * positions: n * n rows, those nearest to the pinned edge first."""
        rows = np.asarray(positions, dtype=float).reshape(self.size, self.size, 3)
        stretch = np.linalg.norm(np.diff(rows, axis=0), axis=-1) / self.spacing - 1
        line = {
            "task": f"sheet of {self.size} x {self.size}, {self.frames} frames",
            "program": program,
            "seconds": float(seconds),
            "mean_stretch": float(stretch.mean()),
            "max_stretch": float(stretch.max()),
        }
        print(json.dumps(line), flush=True)


def sheets():
    """Those that the program is started with."""
    with open(sys.argv[1], encoding="utf-8") as file:
        return [Sheet(told) for told in json.load(file)]


if __name__ == "__main__":
    for sheet in sheets():
        for ours in sheet.ours:
            sheet.report(ours["program"], ours["seconds"], ours["positions"])
