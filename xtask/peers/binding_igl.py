"""libigl: bounded biharmonic weights, each bone by itself, on tetrahedra.

libigl makes tetrahedra with TetGen, whose licence keeps it out of many programs; here the solid is a lattice of cubes of
six tetrahedra each, about as many nodes as ours, so that only the solvers differ.
"""

import sys

import igl
import numpy as np

from binding import Problem, fastest

ROUNDS = 8

# Six tetrahedra round the diagonal of a cube from corner 0 to corner 7; bit i of a corner is its place on axis i.
CUBE = [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]]


def lattice(problem, wanted):
    """Nodes and tetrahedra of the cubes whose middle is inside, about `wanted` nodes."""
    low, high = problem.positions.min(axis=0), problem.positions.max(axis=0)
    cell = (np.prod(high - low) / wanted) ** (1 / 3)
    for _ in range(6):
        counts = np.ceil((high - low) / cell).astype(int) + 1
        cubes = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
        middles = low + (cubes + 0.5) * cell
        inside = igl.winding_number(problem.positions, problem.triangles, middles) > 0.5
        corners = cubes[inside][:, None, :] + [[c & 1, c >> 1 & 1, c >> 2] for c in range(8)]
        nodes, place = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
        if abs(len(nodes) / wanted - 1) < 0.05:
            break
        cell *= (len(nodes) / wanted) ** (1 / 3)
    tets = place.reshape(-1, 8)[:, CUBE].reshape(-1, 4)
    return low + nodes * cell, tets, cell


def segment_distances(points, bones):
    """points x bones."""
    heads, along = bones[:, 0], bones[:, 1] - bones[:, 0]
    squares = np.maximum((along**2).sum(axis=1), 1e-30)
    share = np.einsum("pbk,bk->pb", points[:, None] - heads, along) / squares
    nearest = heads + np.clip(share, 0, 1)[..., None] * along
    return np.linalg.norm(points[:, None] - nearest, axis=2)


problem = Problem(sys.argv[1])
nodes, tets, cell = lattice(problem, problem.told["nodes"])
distances = segment_distances(nodes, problem.bones)
nearest = distances.argmin(axis=1)
held = distances.min(axis=1) < 0.75 * cell
# A bone that holds no node takes the nearest one that no other has.
for bone in set(range(len(problem.bones))) - set(nearest[held]):
    free = np.where(held, np.inf, distances[:, bone])
    nearest[free.argmin()], held[free.argmin()] = bone, True
handles = np.flatnonzero(held)
values = np.eye(len(problem.bones))[nearest[handles]]
seconds, weights = fastest(lambda: igl.bbw(nodes, tets, handles, values, max_iter=ROUNDS), rounds=1)
name = f"libigl, {len(nodes)} nodes, {ROUNDS} rounds"
problem.report_weights(name, seconds, weights)
