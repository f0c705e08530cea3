//! Skins: joints and where the mesh met them.

use anim_math::Affine;
use anim_math::nalgebra::Matrix4;

use super::accessor::Accessor;
use super::element::Component;
use super::json::Json;
use super::read::{Reader, Usage};
use crate::{AssetError, SkinSpec};

/// All skins.
///
/// # Errors
///
/// `UNRESOLVED_REFERENCE` for a joint that does not exist: every weight after it would move another joint. `TOO_LARGE`.
pub(super) fn skins(reader: &Reader<'_>) -> Result<Vec<SkinSpec>, AssetError> {
    let list = reader.root.list("skins");
    let budget = reader.budget;
    budget.take(list.len(), size_of::<SkinSpec>(), "/skins")?;
    let skins = list.iter().enumerate();
    skins
        .map(|(index, json)| skin(reader, json, &format!("/skins/{index}")))
        .collect()
}

fn skin(reader: &Reader<'_>, json: &Json<'_>, place: &str) -> Result<SkinSpec, AssetError> {
    let node_count = reader.root.list("nodes").len();
    let list = json.list("joints");
    let size = size_of::<usize>() + size_of::<Affine>();
    reader.budget.take(list.len(), size, place)?;
    let mut joints = Vec::with_capacity(list.len());
    for (at, joint) in list.iter().enumerate() {
        let joint = joint.as_count().filter(|joint| *joint < node_count);
        joints.push(joint.ok_or_else(|| AssetError {
            code: "UNRESOLVED_REFERENCE",
            location: format!("{place}/joints/{at}"),
            message: "the joint does not exist".to_owned(),
        })?);
    }
    let mut joint_from_bind = vec![Affine::IDENTITY; joints.len()];
    if let Some(accessor) = reader.accessor_of(json, "inverseBindMatrices") {
        let place = format!("{place}/inverseBindMatrices");
        bind_matrices(reader, accessor, &place, &mut joint_from_bind)?;
    }
    Ok(SkinSpec {
        name: Reader::name(json),
        joints,
        joint_from_bind,
    })
}

/// Overwrites the identities in `out` by the matrices that can be read.
fn bind_matrices(
    reader: &Reader<'_>,
    accessor: &Accessor<'_>,
    place: &str,
    out: &mut [Affine],
) -> Result<(), AssetError> {
    let log = reader.log;
    reader.note_usage(accessor, Usage::BindMatrices, place);
    if reader.is_strided(accessor) {
        let message = "bind matrices must be packed";
        log.error("SKIN_IBM_ACCESSOR_WITH_BYTESTRIDE", place, message);
    }
    if accessor.component != Component::F32 || accessor.shape.len() != 16 {
        let message = "not 4×4 matrices of floats; identities are used";
        log.error("SKIN_IBM_INVALID_FORMAT", place, message);
        return Ok(());
    }
    if accessor.count < out.len() {
        let message = format_args!("{} matrices for {} joints", accessor.count, out.len());
        log.error("INVALID_IBM_ACCESSOR_COUNT", place, message);
    }
    if accessor.is_zeros() {
        let message = "the file stores no bind matrices; identities are used";
        log.warning("ACCESSOR_INVALID_IBM", place, message);
        return Ok(());
    }
    let Some(matrices) = accessor.floats::<16>(reader.budget)? else {
        return Ok(());
    };
    for (joint, (out, columns)) in out.iter_mut().zip(&matrices).enumerate() {
        let affine = Affine::from_mat4(&Matrix4::from_column_slice(columns));
        let last_row = [columns[3], columns[7], columns[11], columns[15]];
        if last_row != [0.0, 0.0, 0.0, 1.0] {
            let message = format_args!("matrix {joint}: the last row is {last_row:?}, not 0 0 0 1");
            log.error("ACCESSOR_INVALID_IBM", place, message);
        }
        if affine.is_finite() {
            *out = affine;
        } else {
            let message = format_args!("matrix {joint} is not finite; the identity is used");
            log.error("ACCESSOR_INVALID_IBM", place, message);
        }
    }
    reader
        .budget
        .give_back(matrices.len(), size_of::<[f32; 16]>());
    Ok(())
}
