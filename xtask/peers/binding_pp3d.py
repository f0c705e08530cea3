"""potpourri3d (geometry-central): the heat method and fast marching."""

import sys

import potpourri3d as pp3d

from binding import Problem, fastest

problem = Problem(sys.argv[1])
source = problem.told["source"]
mesh = problem.positions, problem.triangles
setup, solver = fastest(lambda: pp3d.MeshHeatMethodDistanceSolver(*mesh))
query, distances = fastest(lambda: solver.compute_distance(source))
problem.report_distances("potpourri3d heat, once", setup + query, distances)
problem.report_distances("potpourri3d heat, each further", query, distances)
marcher = pp3d.MeshFastMarchingDistanceSolver(*mesh)
seconds, distances = fastest(lambda: marcher.compute_distance([[(source, [])]]))
problem.report_distances("potpourri3d marching", seconds, distances)
