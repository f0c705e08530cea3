"""Blender as a module: automatic weights of an armature."""

import sys

import bpy
import numpy as np

from binding import Problem, fastest


def bind(problem):
    """The processor's time and the weights, vertices x bones."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene.collection.objects

    armature = bpy.data.objects.new("armature", bpy.data.armatures.new("armature"))
    scene.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for index, (head, tail) in enumerate(problem.bones):
        bone = armature.data.edit_bones.new(str(index))
        bone.head, bone.tail = head, tail
    bpy.ops.object.mode_set(mode="OBJECT")

    mesh = bpy.data.meshes.new("mesh")
    mesh.from_pydata(problem.positions.tolist(), [], problem.triangles.tolist())
    body = bpy.data.objects.new("body", mesh)
    scene.link(body)
    body.select_set(True)
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    seconds, _ = fastest(lambda: bpy.ops.object.parent_set(type="ARMATURE_AUTO"), rounds=1)

    weights = np.zeros((len(problem.positions), len(problem.bones)))
    bone_of_group = {group.index: int(group.name) for group in body.vertex_groups}
    for vertex in mesh.vertices:
        for entry in vertex.groups:
            weights[vertex.index, bone_of_group[entry.group]] = entry.weight
    return seconds, weights


for path in sys.argv[1:]:
    problem = Problem(path)
    seconds, weights = bind(problem)
    name = f"Blender {bpy.app.version_string} automatic weights, bone heat"
    problem.report_weights(name, seconds, problem.by_joint(weights))
