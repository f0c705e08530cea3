"""The problems of an arm of seven hinges, and the one judge of every solver's answers.

Reads what the bench `arm` of anim-ik wrote: the arm, reachable targets, starts, and our own times and answers. Forward
kinematics here is plain numpy, so that no solver is judged by its own. Run as a program, it judges ours.
"""

import json
import sys
import time

import numpy as np


class Arm:
    """Hinges in a row; lengths in metres, angles in radians."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.told = json.load(file)
        self.origins = np.array([joint["origin"] for joint in self.told["joints"]])
        self.axes = np.array([joint["axis"] for joint in self.told["joints"]])
        self.lower, self.upper = np.array([joint["range"] for joint in self.told["joints"]]).T
        self.flange = np.array(self.told["flange"])
        self.tolerance = self.told["tolerance"]
        self.targets = [placement(p["position"], p["rotation"]) for p in self.told["problems"]]
        self.starts = np.array([problem["start"] for problem in self.told["problems"]])

    def forward(self, angles):
        """Where the flange is: 4 x 4, base_from_flange."""
        base_from_joint = np.eye(4)
        for origin, axis, angle in zip(self.origins, self.axes, angles):
            rotation = np.append(np.sin(angle / 2) * axis, np.cos(angle / 2))
            base_from_joint = base_from_joint @ placement(origin, rotation)
        return base_from_joint @ placement(self.flange, [0.0, 0.0, 0.0, 1.0])

    def run(self, name, descend, targets, restarts=0):
        """Times `descend(target, start) -> (answer, error)` on every problem, and reports it.

        As long as the larger of metres and radians is above the tolerance it starts anew, `restarts` times at most, at
        random within the limits; the best answer counts.
        """
        random = np.random.default_rng(1)
        descend(targets[0], self.starts[0])
        times, answers = [], []
        for target, start in zip(targets, self.starts):
            begin = time.perf_counter()
            answer, error = descend(target, start)
            for _ in range(restarts):
                if error <= self.tolerance:
                    break
                other = descend(target, random.uniform(self.lower, self.upper))
                answer, error = min((answer, error), other, key=lambda found: found[1])
            times.append(1e6 * (time.perf_counter() - begin))
            answers.append(answer)
        self.report(name, restarts, times, answers)

    def report(self, name, restarts, microseconds, answers):
        """Prints one line of JSON. A pose is reached if it is within the tolerance and no angle out of its range."""
        reached, errors = 0, []
        for target, answer in zip(self.targets, np.array(answers)):
            actual = self.forward(answer)
            position = np.linalg.norm(actual[:3, 3] - target[:3, 3])
            # Rotations an angle apart are 2 sqrt(2) sin(angle / 2) apart in the Frobenius norm.
            chord = np.linalg.norm(actual[:3, :3] - target[:3, :3]) / np.sqrt(8)
            rotation = 2 * np.arcsin(min(chord, 1.0))
            inside = np.all((self.lower <= answer) & (answer <= self.upper))
            reached += int(inside and max(position, rotation) <= self.tolerance)
            errors.append((position, rotation))
        position, rotation = np.mean(errors, axis=0)
        line = {
            "solver": name,
            "restarts": restarts,
            "solves": len(errors),
            "reached": reached,
            "mean_us": float(np.mean(microseconds)),
            "p99_us": float(np.percentile(microseconds, 99)),
            "position_error": float(position),
            "rotation_error": float(rotation),
        }
        print(json.dumps(line), flush=True)


def placement(position, quaternion):
    """A 4 x 4 rigid transform; x, y, z, w."""
    x, y, z, w = quaternion
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, 3] = position
    return matrix


if __name__ == "__main__":
    problems = Arm(sys.argv[1])
    for ours in problems.told["ours"]:
        problems.report("anim-ik", ours["restarts"], ours["microseconds"], ours["answers"])
