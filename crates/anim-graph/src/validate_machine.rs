//! The validator's part for state machines.

use crate::machine_spec::{Condition, MachineSpec, Start, TransitionSpec};
use crate::report::Report;
use crate::spec::ParameterKind;
use crate::validate::{Scene, check_known, check_number, check_unique};

/// Reports everything wrong with a machine at `place`.
pub(crate) fn check(scene: &Scene<'_>, machine: &MachineSpec, place: &str, report: &mut Report) {
    let names = || machine.states.iter().map(|state| state.name.as_str());
    check_unique("state", place, names(), report);
    check_known("state", &machine.initial, names(), place, report);
    for transition in &machine.transitions {
        let from = transition.from.as_deref().unwrap_or("any");
        let place = format!("{place}/{from} -> {}", transition.to);
        for name in transition.from.iter().chain([&transition.to]) {
            check_known("state", name, names(), &place, report);
        }
        check_transition(scene, transition, &place, report);
    }
    for name in unreachable(machine) {
        report.warn(
            &format!("{place}/{name}"),
            "no transition leads to this state",
        );
    }
}

fn check_transition(
    scene: &Scene<'_>,
    transition: &TransitionSpec,
    place: &str,
    report: &mut Report,
) {
    check_number("duration", transition.duration, 0.0, place, report);
    match transition.start {
        Start::Time(time) => check_number("start time", time, 0.0, place, report),
        Start::Phase(phase) => check_number("start phase", phase, 0.0, place, report),
        Start::Beginning | Start::KeepPhase | Start::Resume => {}
    }
    check_condition(scene, &transition.when, place, report);
}

fn check_condition(scene: &Scene<'_>, condition: &Condition, place: &str, report: &mut Report) {
    match condition {
        Condition::Compare(name, _, value) => {
            scene.parameter(name, "float", place, report);
            check_number("the number compared with", *value, f32::MIN, place, report);
        }
        Condition::Bool(name) => scene.parameter(name, "bool", place, report),
        Condition::Is(name, option) => {
            scene.parameter(name, "choice", place, report);
            let parameters = &scene.spec.parameters;
            let kind = parameters.iter().find(|spec| spec.name == *name);
            if let Some(ParameterKind::Choice { options, .. }) = kind.map(|spec| &spec.kind) {
                let words = options.iter().map(String::as_str);
                check_known("option", option, words, place, report);
            }
        }
        Condition::Trigger(name) => scene.parameter(name, "trigger", place, report),
        Condition::Finished | Condition::Event(_) => {}
        Condition::After(seconds) => check_number("after", *seconds, 0.0, place, report),
        Condition::Phase(turns) => check_number("phase", *turns, 0.0, place, report),
        Condition::All(list) | Condition::Any(list) => {
            for condition in list {
                check_condition(scene, condition, place, report);
            }
        }
        Condition::Not(condition) => check_condition(scene, condition, place, report),
    }
}

/// States that no way leads to from the initial one.
fn unreachable(machine: &MachineSpec) -> Vec<&str> {
    let mut reached = vec![machine.initial.as_str()];
    let mut next = 0;
    while let Some(state) = reached.get(next).copied() {
        for transition in &machine.transitions {
            let leaves = transition.from.as_deref().is_none_or(|from| from == state);
            if leaves && !reached.contains(&transition.to.as_str()) {
                reached.push(&transition.to);
            }
        }
        next += 1;
    }
    let names = machine.states.iter().map(|state| state.name.as_str());
    names.filter(|name| !reached.contains(name)).collect()
}
