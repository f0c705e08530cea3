//! The floors of ARCHITECTURE.md: a crate depends only on crates of lower floors.

use serde_json::Value;

use crate::workspace::{array, packages, text};

/// Every crate and its floor. The facade is on floor 6, leaves on 7; xtask stands outside.
const FLOORS: [(&str, u32); 16] = [
    ("anim-math", 0),
    ("anim-curves", 1),
    ("anim-geom", 1),
    ("anim-skeleton", 2),
    ("anim-sim", 2),
    ("anim-particles", 2),
    ("anim-graph", 3),
    ("anim-ik", 3),
    ("anim-skin", 3),
    ("anim-mocap", 4),
    ("anim-asset", 5),
    ("anim-learn", 5),
    ("anim-engine", FACADE),
    ("anim-view", 5),
    ("anim-gpu", LEAF),
    ("anim-cli", TOP),
];

const FACADE: u32 = 6;
const LEAF: u32 = 7;
/// The one binary, above the other leaves.
const TOP: u32 = 8;

/// True for the crates that people run or look at, which may read clocks.
pub(crate) fn is_leaf(name: &str) -> bool {
    name == "xtask" || floor(name).is_some_and(|floor| floor >= LEAF)
}

/// What the manifests get wrong, each with the crate it is in.
///
/// Tests may use any lower crate or one of the same height, but nobody below knows the facade.
pub(crate) fn problems(metadata: &Value) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    for package in packages(metadata) {
        let name = text(&package["name"]);
        for dependency in array(&package["dependencies"]) {
            // Only a dependency in the workspace has a path.
            if dependency["path"].is_string() {
                let for_tests = dependency["kind"] == "dev";
                let problem = check(name, text(&dependency["name"]), for_tests);
                problems.extend(problem.map(|what| (name.to_owned(), what)));
            }
        }
        if name != "xtask" && floor(name).is_none() {
            problems.push((
                name.to_owned(),
                "has no floor: give it one in xtask/src/floors.rs".into(),
            ));
        }
    }
    problems
}

fn floor(name: &str) -> Option<u32> {
    FLOORS
        .iter()
        .find(|(other, _)| *other == name)
        .map(|(_, floor)| *floor)
}

fn check(name: &str, dependency: &str, for_tests: bool) -> Option<String> {
    if name == "xtask" {
        return Some(format!(
            "must work while {dependency} does not build: remove it"
        ));
    }
    let (own, other) = (floor(name)?, floor(dependency)?);
    let allowed = other < own || for_tests && other < FACADE;
    (!allowed).then(|| format!("floor {own} depends on {dependency} of floor {other}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_lower_floors_are_allowed_but_tests_may_look_sideways() {
        assert_eq!(check("anim-skin", "anim-geom", false), None);
        assert!(check("anim-geom", "anim-curves", false).is_some());
        assert!(check("anim-math", "anim-skin", false).is_some());
        assert_eq!(check("anim-skin", "anim-ik", true), None);
        assert!(check("anim-skin", "anim-engine", true).is_some());
        assert_eq!(check("anim-cli", "anim-view", false), None);
        assert!(check("xtask", "anim-math", false).is_some());
    }

    #[test]
    fn manifests_are_read_from_cargo_metadata() {
        let metadata = json!({ "packages": [
            { "name": "anim-math", "dependencies": [
                { "name": "nalgebra", "kind": null },
                { "name": "anim-geom", "kind": null, "path": "x" },
            ] },
            { "name": "anim-new", "dependencies": [] },
        ] });
        let found = problems(&metadata);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].0, "anim-math");
        assert!(found[1].1.contains("no floor"));
    }
}
