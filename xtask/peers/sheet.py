"""A hanging sheet, and the one judge of every program's answer.

A square metre of 0.2 kg/m^2, n x n vertices, starts horizontal with one edge pinned and swings for a second of 60 frames.
Reads what the bench `sheet` of anim-sim wrote: sizes, and our own times, largest stretch and positions. Run as a program,
it judges ours. Stretch is that of the edges that lead away from the pinned one: the mean at the end, and the largest of
the later two thirds of the frames, since folds run through the sheet like whips. Times are of the processor, summed over
threads, the mean of the same frames.
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
        """Times `step()`, a frame each, and judges what `positions()` returns after it."""
        later = self.frames - self.frames // 3
        for _ in range(self.frames - later):
            step()
        seconds, largest = 0.0, 0.0
        for _ in range(later):
            begin = time.process_time()
            step()
            seconds += time.process_time() - begin
            largest = max(largest, self.stretch(positions()).max())
        self.report(program, seconds / later, largest, positions())

    def stretch(self, positions):
        """Of each edge. * positions: n * n rows, those nearest to the pinned edge first."""
        rows = np.asarray(positions, dtype=float).reshape(self.size, self.size, 3)
        return np.linalg.norm(np.diff(rows, axis=0), axis=-1) / self.spacing - 1

    def report(self, program, seconds, largest, positions):
        """Prints one line of JSON."""
        line = {
            "task": f"sheet of {self.size} x {self.size}, {self.frames} frames",
            "program": program,
            "seconds": float(seconds),
            "mean_stretch": float(self.stretch(positions).mean()),
            "max_stretch": float(largest),
        }
        print(json.dumps(line), flush=True)


def sheets():
    """Those that the program is started with."""
    with open(sys.argv[1], encoding="utf-8") as file:
        return [Sheet(told) for told in json.load(file)]


if __name__ == "__main__":
    for sheet in sheets():
        for ours in sheet.ours:
            sheet.report(ours["program"], ours["seconds"], ours["max_stretch"], ours["positions"])
