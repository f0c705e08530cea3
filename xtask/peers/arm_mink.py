"""mink on MuJoCo: differential inverse kinematics, a quadratic program with the limits as constraints at each step."""

import sys
from importlib.metadata import version

import mink
import mujoco
import numpy as np

from arm7 import Arm

STEPS = 100

arm = Arm(sys.argv[1])


def spaced(values):
    return " ".join(repr(float(value)) for value in values)


opening = closing = ""
for origin, axis, lower, upper in zip(arm.origins, arm.axes, arm.lower, arm.upper):
    opening += f"""<body pos="{spaced(origin)}">
        <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
        <joint type="hinge" axis="{spaced(axis)}" limited="true" range="{spaced((lower, upper))}"/>"""
    closing += "</body>"
site = f'<site name="flange" pos="{spaced(arm.flange)}"/>'
model = mujoco.MjModel.from_xml_string(
    f'<mujoco><compiler angle="radian"/><worldbody>{opening}{site}{closing}</worldbody></mujoco>'
)
configuration = mink.Configuration(model)
task = mink.FrameTask("flange", "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)
limits = [mink.ConfigurationLimit(model)]


def descend(target, start):
    configuration.update(start)
    task.set_target(target)
    for step in range(STEPS + 1):
        twist = task.compute_error(configuration)
        error = max(np.linalg.norm(twist[:3]), np.linalg.norm(twist[3:]))
        if error <= arm.tolerance or step == STEPS:
            break
        try:
            velocity = mink.solve_ik(configuration, [task], 1.0, "daqp", damping=1e-6, limits=limits)
        except mink.NoSolutionFound:
            break
        configuration.integrate_inplace(velocity, 1.0)
    return configuration.q.copy(), error


targets = [mink.SE3.from_matrix(target) for target in arm.targets]
name = f"mink {version('mink')}, daqp"
arm.run(name, descend, targets)
arm.run(name, descend, targets, restarts=20)
