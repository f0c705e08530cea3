//! Plain f64 playing, morphing and skinning, written from the specification and nothing else.

use anim_asset::{Document, SurfaceSpec};
use anim_math::nalgebra::{Matrix3, Matrix4, Point3, Vector3};
use anim_skeleton::{ClipSpec, Pose};

/// `world_from_node` of every node.
pub(crate) fn worlds(document: &Document, clip: Option<&ClipSpec>, time: f32) -> Vec<Matrix4<f64>> {
    let skeleton = document.skeleton().unwrap();
    let mut pose = Pose::identity(skeleton.len());
    match clip {
        Some(clip) => clip.sample(&skeleton, time, &mut pose),
        None => pose.copy_from(skeleton.rest()),
    }
    let mut worlds = vec![Matrix4::identity(); skeleton.len()];
    for joint in skeleton.joints() {
        let local = pose.get(joint);
        let rotation = local.rotation.cast::<f64>().to_homogeneous();
        let local = Matrix4::new_translation(&local.translation.cast::<f64>())
            * rotation
            * Matrix4::new_nonuniform_scaling(&local.scale.cast::<f64>());
        let parent = skeleton
            .parent(joint)
            .map_or(Matrix4::identity(), |parent| {
                worlds[skeleton.source(parent)]
            });
        worlds[skeleton.source(joint)] = parent * local;
    }
    worlds
}

/// The morph weights of `node`.
pub(crate) fn weights(
    document: &Document,
    clip: Option<&ClipSpec>,
    time: f32,
    node: usize,
) -> Vec<f32> {
    let mut weights = document.rest_weights(node).to_vec();
    let channels = clip.map(|clip| clip.morphs.as_slice()).unwrap_or_default();
    for channel in channels.iter().filter(|channel| channel.joint == node) {
        weights.resize(channel.track.width(), 0.0);
        channel.track.sample(time, &mut weights);
    }
    weights
}

/// World positions and unit normals of the vertices of one surface.
pub(crate) fn vertices(
    document: &Document,
    surface: SurfaceSpec,
    worlds: &[Matrix4<f64>],
    weights: &[f32],
) -> Vec<(Vector3<f64>, Vector3<f64>)> {
    let primitive = &document.meshes[surface.mesh].primitives[surface.primitive];
    let rest = &primitive.mesh.rest;
    let mut morphed: Vec<_> = rest
        .positions
        .iter()
        .zip(&rest.normals)
        .map(|(position, normal)| (position.cast::<f64>(), normal.cast::<f64>()))
        .collect();
    for (target, weight) in primitive.targets.iter().zip(weights) {
        for (at, vertex) in target.vertices.iter().enumerate() {
            let (position, normal) = &mut morphed[*vertex as usize];
            *position += target.positions[at].cast::<f64>() * f64::from(*weight);
            if let Some(delta) = target.normals.get(at) {
                *normal += delta.cast::<f64>() * f64::from(*weight);
            }
        }
    }
    let skin = surface.skin.map(|skin| &document.skins[skin]);
    let influences = primitive.influences.as_ref().zip(skin);
    let world_from_vertex = |vertex: usize| {
        let Some((influences, skin)) = influences else {
            return worlds[surface.node];
        };
        let k = influences.per_vertex;
        let weights = &influences.weights[vertex * k..][..k];
        let joints = &influences.joints[vertex * k..][..k];
        let sum: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
        let mut blended = Matrix4::zeros();
        for (joint, weight) in joints.iter().zip(weights) {
            let joint = usize::from(*joint);
            let joint_from_bind = skin.joint_from_bind[joint].to_mat4().cast::<f64>();
            let world_from_bind = worlds[skin.joints[joint]] * joint_from_bind;
            blended += world_from_bind * (f64::from(*weight) / sum);
        }
        blended
    };
    morphed
        .iter()
        .enumerate()
        .map(|(vertex, (position, normal))| {
            let world = world_from_vertex(vertex);
            let position = world.transform_point(&Point3::from(*position)).coords;
            let linear: Matrix3<f64> = world.fixed_view::<3, 3>(0, 0).into_owned();
            let inverse = linear.try_inverse().unwrap_or_else(Matrix3::identity);
            let normal = inverse.transpose() * normal;
            (position, normal / normal.norm())
        })
        .collect()
}
