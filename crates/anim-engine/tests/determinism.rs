//! The same bits for any number of threads.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use anim_engine::Stage;

#[test]
fn three_hundred_frames_give_the_same_bits_for_1_2_and_4_threads() {
    let hash = |threads: usize| {
        let mut scene = common::scene(threads);
        (0..300).for_each(|_| scene.step(1.0 / 60.0));
        assert_eq!(scene.engine.quarantined().count(), 0);
        scene.engine.hash()
    };
    let one = hash(1);
    assert_eq!(one, hash(1), "two runs differ");
    assert_eq!(one, hash(2), "1 and 2 threads differ");
    assert_eq!(one, hash(4), "1 and 4 threads differ");
}

#[test]
fn graphs_drivers_sockets_and_masks_give_the_same_bits_for_1_2_and_4_threads() {
    let hash = |threads: usize| {
        let mut engine = common::crowd(threads);
        for _ in 0..120 {
            engine.run(Stage::Animate, 1.0 / 60.0);
            engine.run(Stage::Ik, 1.0 / 60.0);
        }
        let met: usize = engine
            .actors()
            .map(|(_, actor)| actor.events().count())
            .sum();
        assert_eq!(engine.quarantined().count(), 0);
        (engine.hash(), met)
    };
    let one = hash(1);
    assert_eq!(one, hash(2), "1 and 2 threads differ");
    assert_eq!(one, hash(4), "1 and 4 threads differ");
}

#[test]
fn hair_and_muscles_give_the_same_bits_for_1_2_and_4_threads() {
    for make in [common::hair, common::biceps] {
        let hash = |threads: usize| {
            let mut scene = make(threads);
            (0..40).for_each(|_| scene.step(1.0 / 60.0));
            assert_eq!(scene.engine.quarantined().count(), 0);
            scene.engine.hash()
        };
        let one = hash(1);
        assert_eq!(one, hash(2), "1 and 2 threads differ");
        assert_eq!(one, hash(4), "1 and 4 threads differ");
    }
}
