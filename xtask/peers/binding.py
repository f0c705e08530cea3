"""Problems of binding meshes to bones, and the one judge of every program's answers.

Reads what the benches of anim-skin and anim-engine wrote: a mesh, bones or a source, and our own time and answer. Run as a
program, it judges ours. Sums are judged as a program leaves rows; distances from what an artist painted and energies are
of rows divided by their sums, as every deformer does. Times are of the processor: ours ran on one thread.
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
        # Of each bone; several bones may be of one joint.
        self.joints = np.array(self.told.get("joints", range(len(self.bones))), dtype=int)
        self.joint_count = self.told.get("joint_count", len(self.bones))

    def by_joint(self, weights):
        """Columns of bones as columns of joints."""
        out = np.zeros((len(weights), self.joint_count))
        np.add.at(out.T, self.joints, weights.T)
        return out

    def dense(self, rows):
        """Rows of (joint, weight) as a matrix of rows x joints."""
        weights = np.zeros((len(rows), self.joint_count))
        for index, row in enumerate(rows):
            for joint, weight in row:
                weights[index, joint] = weight
        return weights

    def report_weights(self, program, seconds, weights, **numbers):
        """* weights: vertices x joints. A row is empty if its sum is below 1e-6.

        Where an artist painted the mesh, the mean over vertices of the L1 difference, from 0 to 2; an empty row is off by 1.
        """
        sums = weights.sum(axis=1)
        numbers.update(sum_error=np.abs(sums - 1).max(), empty=np.sum(sums < 1e-6))
        if "authored" in self.told:
            apart = divided(weights) - self.dense(self.told["authored"])
            numbers["from_authored"] = np.abs(apart).sum(axis=1).mean()
        self.report(program, seconds, **numbers)

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


def divided(weights):
    """Rows by their sums; empty ones stay empty."""
    sums = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 1e-6)


class Lattice:
    """The nodes that our bounded biharmonic weights are solved on, as far as they are corners of whole cubes.

    Tetrahedra fill cubes, so other programs have no use for the rest; energies are of these nodes alone, of all programs.
    """

    def __init__(self, problem):
        told = problem.told["lattice"]
        self.spacing = told["spacing"]
        positions = np.array(told["positions"])
        cells = np.rint((positions - positions.min(axis=0)) / self.spacing).astype(int)
        self.all_nodes = len(cells)
        node_of = np.full(cells.max(axis=0) + 3, -1)
        node_of[tuple(cells.T)] = np.arange(len(cells))
        # N x 8; bit i of a corner is its place on axis i.
        corners = [(c & 1, c >> 1 & 1, c >> 2) for c in range(8)]
        cubes = np.stack([node_of[tuple((cells + c).T)] for c in corners], axis=1)
        cubes = cubes[(cubes >= 0).all(axis=1)]
        used, places = np.unique(cubes, return_inverse=True)
        self.cubes = places.reshape(-1, 8)
        self.nodes = positions[used]
        self.low = positions.min(axis=0)
        self.node_of = np.full_like(node_of, -1)
        self.node_of[tuple(cells[used].T)] = np.arange(len(used))
        self.is_held = np.array(told["is_held"])[used]
        self.ours = problem.dense([told["rows"][node] for node in used])
        steps = np.concatenate([np.eye(3, dtype=int), -np.eye(3, dtype=int)])
        # N x 6; -1 where there is none. An index of -1 is the last plane, which is empty.
        self.neighbours = np.stack([self.node_of[tuple((cells[used] + s).T)] for s in steps], axis=1)

    def energy(self, weights):
        """Sum over joints of |A w|^2 / 2, A the graph Laplacian of nodes that share a face of cubes."""
        there = (self.neighbours >= 0)[..., None]
        other = np.where(there, weights[self.neighbours], 0.0)
        bent = there.sum(axis=1) * weights - other.sum(axis=1)
        return 0.5 * (bent**2).sum()

    def at(self, points, weights):
        """What `weights` of nodes are at points: trilinear, of the nodes that are there, or that of the nearest."""
        place = (points - self.low) / self.spacing
        base = np.floor(place).astype(int)
        part = place - base
        total, shares = np.zeros((len(points), weights.shape[1])), np.zeros(len(points))
        for corner in range(8):
            bits = np.array([corner & 1, corner >> 1 & 1, corner >> 2])
            index = base + bits
            inside = ((index >= 0) & (index < self.node_of.shape)).all(axis=1)
            node = np.where(inside, self.node_of[tuple(np.where(inside[:, None], index, -1).T)], -1)
            share = np.where(node >= 0, np.prod(np.where(bits, part, 1 - part), axis=1), 0.0)
            total += share[:, None] * weights[node]
            shares += share
        for point in np.flatnonzero(shares < 1e-9):
            nearest = ((self.nodes - points[point]) ** 2).sum(axis=1).argmin()
            total[point], shares[point] = weights[nearest], 1.0
        return total / shares[:, None]


def fastest(work, rounds=3):
    """The least time of the processor of some rounds, whatever threads they take, and the answer."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        answer = work()
        best = min(best, time.process_time() - begin)
    return best, answer


if __name__ == "__main__":
    for path in sys.argv[1:]:
        problem = Problem(path)
        for ours in problem.told["ours"]:
            if "distances" in ours:
                problem.report_distances(ours["program"], ours["seconds"], ours["distances"])
                continue
            numbers = {}
            if ours["program"].endswith("bbw"):
                lattice = Lattice(problem)
                numbers["energy"] = lattice.energy(lattice.ours)
            weights = problem.dense(ours["rows"])
            problem.report_weights(ours["program"], ours["seconds"], weights, **numbers)
