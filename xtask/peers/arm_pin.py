"""pinocchio: damped least squares in the frame of the flange, angles clamped to their ranges after each step.

pinocchio offers kinematics and Jacobians but no solver, so the loop is Python's, as its users write it.
"""

import sys

import numpy as np
import pinocchio as pin

from arm7 import Arm

STEPS = 100
DAMPING = 1e-4

arm = Arm(sys.argv[1])
model = pin.Model()
joint = 0
for index, (origin, axis) in enumerate(zip(arm.origins, arm.axes)):
    hinge = pin.JointModelRevoluteUnaligned(axis)
    rest = pin.SE3(np.eye(3), origin)
    unbounded = np.full(1, np.inf)
    bounds = arm.lower[index : index + 1], arm.upper[index : index + 1]
    joint = model.addJoint(joint, hinge, rest, f"joint{index}", unbounded, unbounded, *bounds)
end = pin.Frame("flange", joint, 0, pin.SE3(np.eye(3), arm.flange), pin.FrameType.OP_FRAME)
flange = model.addFrame(end)
data = model.createData()


def descend(target, start):
    angles, damping = start, DAMPING * np.eye(6)
    for step in range(STEPS + 1):
        pin.computeJointJacobians(model, data, angles)
        actual_from_target = pin.updateFramePlacement(model, data, flange).actInv(target)
        twist = pin.log6(actual_from_target)
        error = max(np.linalg.norm(actual_from_target.translation), np.linalg.norm(twist.angular))
        if error <= arm.tolerance or step == STEPS:
            return angles, error
        jacobian = pin.getFrameJacobian(model, data, flange, pin.LOCAL)
        jacobian = pin.Jlog6(actual_from_target.inverse()) @ jacobian
        change = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping, twist.vector)
        angles = np.clip(angles + change, arm.lower, arm.upper)


targets = [pin.SE3(target) for target in arm.targets]
name = f"pinocchio {pin.__version__}, damped least squares"
arm.run(name, descend, targets)
arm.run(name, descend, targets, restarts=20)
