//! The scene that several tests play: the built-in figure in its cape walks over hills and kicks up dust.

use anim_engine::{Config, Scene, SceneSpec, asset};

/// Hills, planted feet, a look-at, a cape and dust.
pub(crate) fn scene(threads: usize) -> Scene {
    let text = include_str!("../../../anim-cli/src/demo.scene.json");
    let spec: SceneSpec = serde_json::from_str(text).expect("the demo's scene");
    let config = Config {
        threads: Some(threads),
        ..Config::default()
    };
    Scene::new(&spec, config, &mut |_| Ok(asset::builtin::humanoid())).expect("a scene")
}
