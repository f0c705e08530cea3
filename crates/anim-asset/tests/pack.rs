//! The pack gives back what it was given, and refuses everything else without harm.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod samples;

use anim_asset::{Document, MeshSpec, Node, Primitive, pack};
use anim_math::{Transform, Vec3};
use anim_skeleton::driver::{Breathe, DriverSpec};
use proptest::prelude::*;

#[test]
fn a_document_comes_back_as_it_was() {
    for document in [Document::default(), samples::everything()] {
        assert_eq!(pack::decode(&pack::encode(&document)), Ok(document));
    }
}

/// One node at (1, 2, 3): what version 1 looks like, byte for byte.
#[test]
fn version_1_never_changes() {
    let document = Document {
        nodes: vec![Node {
            name: Some("a".to_owned()),
            rest: Transform::from_translation(Vec3::new(1.0, 2.0, 3.0)),
            ..Node::default()
        }],
        ..Document::default()
    };
    let golden = include_bytes!("fixtures/version_1.anim");
    assert_eq!(pack::encode(&document), golden);
    assert_eq!(pack::decode(golden), Ok(document));
}

#[test]
fn drivers_come_back_in_version_2() {
    let mut document = samples::everything();
    document.tangents.clear();
    let joint = 1;
    document.drivers = vec![DriverSpec::new("breath", Breathe::new(joint))];
    let pack = pack::encode(&document);
    assert_eq!(pack[12], 2);
    assert_eq!(pack::decode(&pack), Ok(document.clone()));
    document.drivers = vec![DriverSpec::new("breath", Breathe::new(99))];
    check(&pack::encode(&document), "DOCUMENT_INVALID", "/drivers");
}

#[test]
fn tangents_come_back_in_version_3() {
    let mut document = samples::everything();
    let pack = pack::encode(&document);
    assert_eq!(pack[12], 3);
    assert_eq!(pack::decode(&pack), Ok(document.clone()));
    document.tangents[0].targets[0].vertices[1] = 99;
    check(&pack::encode(&document), "DOCUMENT_INVALID", "/tangents/0");
}

fn check(pack: &[u8], code: &str, location: &str) {
    let error = pack::decode(pack).unwrap_err();
    assert_eq!((error.code, error.location.as_str()), (code, location));
}

#[test]
fn damage_is_told_with_its_place() {
    let pack = pack::encode(&samples::everything());
    let with = |place: usize, value: u8| {
        let mut pack = pack.clone();
        pack[place] = value;
        pack
    };
    check(&[], "PACK_LENGTH", "byte 0");
    check(&pack[..20], "PACK_LENGTH", "byte 20");
    check(
        &pack[..pack.len() - 1],
        "PACK_LENGTH",
        &format!("byte {}", pack.len() - 1),
    );
    check(
        &[&pack[..], &[0]].concat(),
        "PACK_LENGTH",
        &format!("byte {}", pack.len()),
    );
    check(&with(0, b'a'), "PACK_MAGIC", "byte 0");
    check(&with(8, 9), "PACK_KIND", "byte 8");
    check(&with(12, 4), "PACK_VERSION", "byte 12");
    check(&with(60, pack[60] ^ 1), "PACK_CHECKSUM", "byte 24");
}

#[test]
fn a_document_that_cannot_be_is_refused_after_decoding() {
    let mut document = samples::everything();
    document.nodes[0].parent = Some(1);
    check(&pack::encode(&document), "DOCUMENT_INVALID", "/nodes/0");
}

/// A pack around any payload, with a header that fits: what an attacker would send.
fn seal(payload: &[u8]) -> Vec<u8> {
    let hash = payload
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let header = [1_u64 | 1 << 32, payload.len() as u64, hash];
    let mut pack = pack::MAGIC.to_vec();
    pack.extend(header.iter().flat_map(|field| field.to_le_bytes()));
    pack.extend(payload);
    pack
}

proptest! {
    #[test]
    fn any_bytes_are_refused_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(pack::decode(&bytes).is_err());
        let _ = pack::decode(&seal(&bytes));
    }

    /// Whatever decodes is sound, and encodes to what was decoded.
    #[test]
    fn sealed_damage_gives_an_error_or_a_sound_document(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut payload = pack::encode(&samples::everything())[32..].to_vec();
        for (place, value) in damage {
            let place = place.index(payload.len());
            payload[place] = value;
        }
        if let Ok(document) = pack::decode(&seal(&payload)) {
            prop_assert!(document.check().is_ok());
            prop_assert_eq!(pack::decode(&pack::encode(&document)), Ok(document));
        }
    }

    #[test]
    fn strips_of_any_size_come_back(rows in 0_u32..40, name in ".{0,8}", color in prop::array::uniform3(0.0_f32..1.0)) {
        let document = Document {
            meshes: vec![MeshSpec {
                name: Some(name),
                primitives: vec![Primitive { mesh: samples::strip(rows), color, ..Primitive::default() }],
                ..MeshSpec::default()
            }],
            ..Document::default()
        };
        prop_assert_eq!(pack::decode(&pack::encode(&document)), Ok(document));
    }
}
