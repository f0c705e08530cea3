//! Memory is bounded by the size of the file, whatever it claims.

#![allow(unsafe_code, reason = "counting allocations takes an allocator")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken test should say where"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use anim_asset::gltf;

/// Counts what is allocated, and the most there ever was.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Reads a file of JSON members, with `data` for its buffer, and checks the most that was allocated.
fn check(what: &str, members: &str, data: &[u8]) {
    let text = format!(r#"{{"asset":{{"version":"2.0"}},{members}}}"#);
    let size = text.len() + data.len();
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = std::time::Instant::now();
    let verdict = match gltf::read(text.as_bytes(), &mut |_| Ok(data.to_vec())) {
        Ok(document) => format!("read, {} findings", document.findings.len()),
        Err(error) => error.to_string(),
    };
    let peak = PEAK.load(Relaxed) - before;
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!(
        "{what}: {:.1} MiB for a file of {:.1} MiB, {:.2} s: {verdict}",
        mib(peak),
        mib(size),
        start.elapsed().as_secs_f64()
    );
    assert!(peak <= (64 << 20) + 8 * size, "{what}: {peak} bytes");
}

/// `count` copies of `element` in a JSON array.
fn repeat(element: &str, count: usize) -> String {
    let mut list = String::from("[");
    for at in 0..count {
        let comma = if at == 0 { "" } else { "," };
        write!(list, "{comma}{element}").unwrap();
    }
    list + "]"
}

#[test]
fn memory_is_bounded_by_the_size_of_the_file() {
    let mesh = r#""meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}]"#;
    let zeros = r#""accessors":[{"componentType":5126,"type":"VEC3","count":1000000000}]"#;
    check("a billion zeros", &format!("{mesh},{zeros}"), &[]);

    let sparse = r#""accessors":[{"componentType":5126,"type":"VEC3","count":1000000000,"sparse":
        {"count":1,"indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":0}}}],
        "bufferViews":[{"buffer":0,"byteLength":16}],"buffers":[{"byteLength":16,"uri":"b"}]"#;
    check("a billion sparse", &format!("{mesh},{sparse}"), &[0; 16]);

    let claims = r#""accessors":[{"bufferView":0,"componentType":5121,"type":"VEC3","count":9007199254740991}],
        "bufferViews":[{"buffer":0,"byteLength":9007199254740991,"byteOffset":9007199254740991}],
        "buffers":[{"byteLength":9007199254740991,"uri":"data:,xx"}]"#;
    check("claims beyond the file", &format!("{mesh},{claims}"), &[]);

    let data = vec![0; 1 << 20];
    let shared = r#""accessors":[{"bufferView":0,"componentType":5126,"type":"VEC3","count":80000}],
        "bufferViews":[{"buffer":0,"byteLength":1048576}],"buffers":[{"byteLength":1048576,"uri":"b"}]"#;
    let primitives = repeat(r#"{"attributes":{"POSITION":0}}"#, 10_000);
    let meshes = format!(r#""meshes":[{{"primitives":{primitives}}}]"#);
    check(
        "an accessor shared by 10000 primitives",
        &format!("{meshes},{shared}"),
        &data,
    );

    let accessors = repeat(
        r#"{"bufferView":0,"componentType":5121,"type":"SCALAR","count":1048576,"min":[0],"max":[0]}"#,
        200,
    );
    let shared = format!(
        r#""accessors":{accessors},"bufferViews":[{{"buffer":0,"byteLength":1048576}}],
        "buffers":[{{"byteLength":1048576,"uri":"b"}}]"#
    );
    check("200 accessors of the same bytes", &shared, &data);

    let bad = shared
        .replace("5121", "5126")
        .replace("\"count\":1048576", "\"count\":4096")
        .replace("1048576", "16384");
    check("200 accessors of NaN", &bad, &[255; 16384]);

    let sets: Vec<String> = (0..50_000)
        .map(|set| format!(r#""JOINTS_{set}":0,"WEIGHTS_{set}":0"#))
        .collect();
    let sets = format!(
        r#""meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,{}}}}}]}}],
        "accessors":[{{"componentType":5126,"type":"VEC3","count":4}}]"#,
        sets.join(",")
    );
    check("50000 sets of joints", &sets, &[]);

    let crowd = format!(
        r#""scenes":{},"nodes":{},"skins":[{{"joints":[0]}}],"meshes":[{{"primitives":{}}}],
        "accessors":[{{"componentType":5126,"type":"VEC3","count":1}}]"#,
        repeat(r#"{"nodes":[0,1]}"#, 5_000),
        repeat(r#"{"mesh":0,"skin":0,"weights":[1]}"#, 20_000),
        repeat(r#"{"attributes":{"POSITION":0,"JOINTS_0":0}}"#, 20_000),
    );
    check("20000 nodes with 20000 primitives", &crowd, &[]);

    let keys = r#""accessors":[{"bufferView":0,"componentType":5126,"type":"SCALAR","count":50000},
        {"componentType":5121,"normalized":true,"type":"VEC4","count":50000}],
        "bufferViews":[{"buffer":0,"byteLength":1048576}],"buffers":[{"byteLength":1048576,"uri":"b"}]"#;
    let times: Vec<u8> = (0..1 << 18)
        .flat_map(|key| (key as f32).to_le_bytes())
        .collect();
    let channels: Vec<String> = (0..10_000)
        .map(|node| format!(r#"{{"sampler":0,"target":{{"node":{node},"path":"rotation"}}}}"#))
        .collect();
    let animation = format!(
        r#""nodes":{},"animations":[{{"samplers":[{{"input":0,"output":1}}],"channels":[{}]}}]"#,
        repeat("{}", 10_000),
        channels.join(",")
    );
    check(
        "a sampler shared by 10000 channels",
        &format!("{animation},{keys}"),
        &times,
    );

    check(
        "numbers only",
        &format!(r#""extras":{}"#, repeat("0", 4_000_000)),
        &[],
    );
    check(
        "objects only",
        &format!(r#""extras":{}"#, repeat(r#"{"":0}"#, 1_000_000)),
        &[],
    );
    check(
        "a million nodes",
        &format!(r#""nodes":{}"#, repeat("{}", 1_000_000)),
        &[],
    );
    check(
        "a million empty accessors",
        &format!(r#""accessors":{}"#, repeat("{}", 1_000_000)),
        &[],
    );
    check(
        "300000 wrong nodes",
        &format!(r#""nodes":{}"#, repeat(r#"{"mesh":-1}"#, 300_000)),
        &[],
    );
    check(
        "nesting",
        &format!(r#""extras":{}"#, "[".repeat(1_000_000)),
        &[],
    );

    let chain: Vec<String> = (1..60_000)
        .map(|child| format!(r#"{{"children":[{child}]}}"#))
        .collect();
    let nodes = format!(r#""nodes":[{},{{}}]"#, chain.join(","));
    let joints: Vec<String> = (0..60_000).map(|joint| joint.to_string()).collect();
    let skin = format!(
        r#""skins":[{{"skeleton":0,"joints":[{}]}}]"#,
        joints.join(",")
    );
    check("a chain of 60000 joints", &format!("{nodes},{skin}"), &[]);
}
