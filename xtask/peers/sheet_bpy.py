"""Blender as a module: the cloth modifier, at its default quality and the stiffness of its cotton preset.

A frame of Blender's cloth is not 1/60 s of physics whatever the rate of the scene is; the sheet is judged after as many
frames, when it hangs and swings.
"""

import bpy
import numpy as np

from sheet import FPS, sheets

QUALITY = 5
LARGEST = 100

for sheet in sheets():
    if sheet.size > LARGEST:
        print(f"note: {sheet.size} x {sheet.size} is left out, since a second of it takes two minutes", flush=True)
        continue
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = 1, sheet.frames + 2
    n = sheet.size
    corners = [(column * sheet.spacing, row * sheet.spacing, 0.0) for row in range(n) for column in range(n)]
    squares = [
        (v, v + 1, v + n + 1, v + n) for row in range(n - 1) for v in range(row * n, row * n + n - 1)
    ]
    mesh = bpy.data.meshes.new("sheet")
    mesh.from_pydata(corners, [], squares)
    body = bpy.data.objects.new("sheet", mesh)
    scene.collection.objects.link(body)
    body.vertex_groups.new(name="pinned").add(list(range(n)), 1.0, "REPLACE")
    cloth = body.modifiers.new("cloth", "CLOTH")
    settings = cloth.settings
    settings.quality = QUALITY
    settings.mass = sheet.vertex_mass
    settings.vertex_group_mass = "pinned"
    settings.air_damping = 0.0
    settings.tension_stiffness = settings.compression_stiffness = 15
    settings.shear_stiffness = 5
    settings.bending_stiffness = 0.5
    cloth.collision_settings.use_collision = False
    cloth.collision_settings.use_self_collision = False
    cloth.point_cache.frame_start, cloth.point_cache.frame_end = 1, sheet.frames + 2
    scene.frame_set(1)

    def step():
        scene.frame_set(scene.frame_current + 1)

    def positions():
        evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        flat = np.empty(3 * n * n, dtype=np.float32)
        evaluated.vertices.foreach_get("co", flat)
        return flat

    sheet.run(f"Blender {bpy.app.version_string} cloth, quality {QUALITY}", step, positions)
