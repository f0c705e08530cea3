"""PositionBasedDynamics: XPBD distance constraints, one iteration a substep."""

import numpy as np
import pypbd as pbd

from sheet import FPS, sheets

XPBD_DISTANCE = 4
STIFFNESS = 1e5
SUBSTEPS = [10, 20]

for sheet in sheets():
    for substeps in SUBSTEPS:
        simulation = pbd.Simulation.getCurrent()
        simulation.initDefault()
        model = simulation.getModel()
        model.cleanup()
        # From the xy plane into the horizontal one.
        flat = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
        cloth = model.addRegularTriangleModel(sheet.size, sheet.size, [0, 0, 0], flat, [1, 1], testMesh=False)
        particles = model.getParticles()
        count = sheet.size**2
        for vertex in range(count):
            particles.setMass(vertex, 0.0 if vertex < sheet.size else sheet.vertex_mass)
        model.addClothConstraints(cloth, XPBD_DISTANCE, *[STIFFNESS] * 4, 0.3, 0.3, False, False)
        controller = simulation.getTimeStep()
        controller.setValueUInt(pbd.TimeStepController.NUM_SUB_STEPS, substeps)
        controller.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS, 1)
        pbd.TimeManager.getCurrent().setTimeStepSize(1 / FPS)
        sheet.run(
            f"PositionBasedDynamics 2.2.2 XPBD, {substeps} substeps",
            lambda: controller.step(model),
            lambda: [np.array(particles.getPosition(vertex)) for vertex in range(count)],
        )
