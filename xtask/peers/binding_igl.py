"""libigl: bounded biharmonic weights, each bone by itself, on tetrahedra.

libigl makes tetrahedra with TetGen, whose licence keeps it out of many programs; here each cube of our lattice is six
tetrahedra and its handles are ours, so that only the solvers differ. Energies are told by our operator, on the lattice, and
by libigl's own, on the tetrahedra.
"""

import sys

import igl
import numpy as np
import scipy.sparse.csgraph

from binding import Lattice, Problem, divided, fastest

ROUNDS = 8

# Six tetrahedra round the diagonal of a cube from corner 0 to corner 7; bit i of a corner is its place on axis i.
CUBE = [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]]


def hold_loose_parts(tets, is_held):
    """Holds a node of each part that no bone does: libigl's system would be singular."""
    _, part = scipy.sparse.csgraph.connected_components(igl.adjacency_matrix(tets), directed=False)
    for label in set(part) - set(part[is_held]):
        is_held[np.flatnonzero(part == label)[0]] = True


def tet_energy(nodes, tets):
    """The function of weights that libigl minimises."""
    laplacian = igl.cotmatrix(nodes, tets)
    mass = igl.massmatrix(nodes, tets, igl.MASSMATRIX_TYPE_DEFAULT).diagonal()
    return lambda weights: 0.5 * (((laplacian @ weights) ** 2) / mass[:, None]).sum()


for path in sys.argv[1:]:
    problem = Problem(path)
    lattice = Lattice(problem)
    nodes, tets = lattice.nodes, lattice.cubes[:, CUBE].reshape(-1, 4)
    is_held = lattice.is_held.copy()
    hold_loose_parts(tets, is_held)
    handles = np.flatnonzero(is_held)
    values = lattice.ours[handles]
    # A joint that holds nothing would be a column of zeros.
    columns = np.flatnonzero(values.any(axis=0))
    solve = lambda: igl.bbw(nodes, tets, handles, values[:, columns], max_iter=ROUNDS)
    seconds, solved = fastest(solve, rounds=1)
    weights = np.zeros((len(nodes), problem.joint_count))
    weights[:, columns] = solved
    whole = divided(weights)
    problem.report_weights(
        f"libigl, {len(nodes)} nodes, {ROUNDS} rounds, bbw",
        seconds,
        lattice.at(problem.positions, weights),
        energy=lattice.energy(whole),
    )
    of_tets = tet_energy(nodes, tets)
    print(
        f"note: {problem.task}: by libigl's operator the energy is {of_tets(lattice.ours):.5g} of ours,"
        f" {of_tets(whole):.5g} of libigl's; {len(nodes)} of {lattice.all_nodes} nodes are in whole cubes",
        flush=True,
    )
