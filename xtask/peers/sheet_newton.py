"""Newton on Warp, on the processor: vertex block descent, and projective dynamics of Style3D."""

import os
import sys

os.environ["WARP_CACHE_PATH"] = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "warp")

import newton  # noqa: E402
import warp as wp  # noqa: E402
from newton.solvers import style3d  # noqa: E402

from sheet import FPS, sheets  # noqa: E402

STIFFNESS = 1e3
# Beyond, building the scene alone takes more than seven minutes.
LARGEST = 100

wp.config.quiet = True
wp.init()
wp.set_device("cpu")


def build(sheet, add, **stiffness):
    builder = newton.ModelBuilder()
    if add is style3d.add_cloth_grid:
        newton.solvers.SolverStyle3D.register_custom_attributes(builder)
    scene = {
        "pos": wp.vec3(0, 0, 2),
        "rot": wp.quat_identity(),
        "vel": wp.vec3(0, 0, 0),
        "dim_x": sheet.size - 1,
        "dim_y": sheet.size - 1,
        "cell_x": sheet.spacing,
        "cell_y": sheet.spacing,
        "mass": sheet.vertex_mass,
        "fix_top": True,
        "particle_radius": 0.4 * sheet.spacing,
    }
    add(builder, **scene, **stiffness)
    return builder


def run(sheet, name, model, solver, substeps, contacts=None):
    states = [model.state(), model.state()]
    control = model.control()

    def step():
        for _ in range(substeps):
            states[0].clear_forces()
            solver.step(states[0], states[1], control, contacts, 1 / FPS / substeps)
            states.reverse()

    # The first call compiles; the state after it is thrown away.
    solver.step(model.state(), model.state(), control, contacts, 1 / FPS / substeps)
    # The pinned row is the last one.
    sheet.run(
        f"newton {newton.__version__} {name}",
        step,
        lambda: states[0].particle_q.numpy().reshape(sheet.size, sheet.size, 3)[::-1],
    )


for sheet in sheets():
    if sheet.size > LARGEST:
        print(f"note: {sheet.size} x {sheet.size} is left out, since it takes more than seven minutes to start", flush=True)
        continue
    builder = build(
        sheet,
        newton.ModelBuilder.add_cloth_grid,
        tri_ke=STIFFNESS,
        tri_ka=STIFFNESS,
        tri_kd=0.0,
        edge_ke=1e-4,
        edge_kd=0.0,
    )
    builder.color(include_bending=True)
    model = builder.finalize()
    vbd = newton.solvers.SolverVBD(model, iterations=1, particle_enable_self_contact=False)
    run(sheet, "VBD, 10 substeps", model, vbd, 10)
    model = build(
        sheet,
        style3d.add_cloth_grid,
        tri_aniso_ke=wp.vec3(STIFFNESS, STIFFNESS, STIFFNESS / 10),
        edge_aniso_ke=wp.vec3(2e-6, 1e-6, 5e-6),
    ).finalize()
    projective = newton.solvers.SolverStyle3D(model, iterations=10)
    contacts = newton.CollisionPipeline(model).contacts()
    run(sheet, "Style3D, 2 substeps of 10 iterations", model, projective, 2, contacts)
