//! What a scenario means, as Python is told: names, ports, sides, directions, ways, loads' rates.

use aqm::Registry;
use aqmlab_sim::{Scenario, resolve};
use serde_json::{Value as Json, json};

fn resolved(links: &Json, traffic: &Json) -> Json {
    let scenario = json!({
        "duration": "20 s", "network": {"clients": 3, "servers": 2}, "link": links, "traffic": traffic,
    });
    resolve(&scenario.to_string(), &Registry::ours(), &tcp::Controls::ours())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn links_have_names_ports_and_rates() {
    let steps = json!([["0 s", "2 Mbit/s"], ["10 s", "8 Mbit/s"]]);
    let links = json!([
        {"rate_steps": steps, "reverse_rate": "3 Mbit/s", "delay": "3 ms"},
        {"access": "dsl"},
        {"name": "last", "rate": "1 Gbit/s"},
    ]);
    let links = resolved(&links, &json!([{"app": "web", "users": 1}]))["links"].clone();
    let names: Vec<&Json> = links.as_array().unwrap().iter().map(|link| &link["name"]).collect();
    assert_eq!(names, ["bottleneck", "link1", "last"]);
    assert_eq!(links[0]["delay_s"], 0.003);
    let forward =
        json!({"port": "bottleneck.forward", "rate_bits_per_s": 2_000_000, "mean_bits_per_s": 5e6});
    let reverse =
        json!({"port": "bottleneck.reverse", "rate_bits_per_s": 3_000_000, "mean_bits_per_s": 3e6});
    assert_eq!([&links[0]["forward"], &links[0]["reverse"]], [&forward, &reverse]);
    assert_eq!([&links[0]["access"], &links[1]["access"]], [&Json::Null, &json!("dsl")]);
    assert_eq!(links[1]["table"]["rate"], "50 Mbit/s", "the values of its access");
    assert_eq!(links[2]["table"]["rate"], "1 Gbit/s", "as written");
}

#[test]
fn machines_may_have_lines_of_their_own() {
    let machines = |access: Json| {
        let mut scenario = json!({
            "duration": "20 s", "link": [{"rate": "1 Mbit/s"}], "traffic": [{"app": "web", "users": 1}],
            "network": {"clients": 3, "servers": 2},
        });
        scenario["network"].as_object_mut().unwrap().extend(access.as_object().unwrap().clone());
        resolve(&scenario.to_string(), &Registry::ours(), &tcp::Controls::ours()).unwrap()["machines"].clone()
    };
    let of = |access: Json| json!({"clients": 3, "servers": 2, "access_bits_per_s": access});
    assert_eq!(machines(json!({})), of(Json::Null));
    assert_eq!(machines(json!({"access_rate": "100 Mbit/s"})), of(json!(100_000_000)));
}

#[test]
fn groups_have_a_side_a_direction_and_a_way() {
    let links = json!([{"rate": "1 Mbit/s"}, {"rate": "2 Mbit/s"}]);
    let group = |of: Json| resolved(&links, &json!([of]))["groups"][0].clone();
    let web = group(json!({"app": "web", "load": "50 %"}));
    assert_eq!(web["name"], "web0");
    assert_eq!([&web["side"], &web["direction"]], ["clients", "forward"]);
    assert_eq!((&web["machines"], &web["noun"]), (&json!(3), &json!(["user", "users"])));
    assert_eq!(web["links"], json!([0, 1]));
    let back = group(json!({"app": "web", "users": 1, "side": "servers", "via": ["link1"]}));
    assert_eq!((&back["links"], &back["direction"]), (&json!([1]), &json!("reverse")));
    assert_eq!(back["machines"], 2);
    let call = group(json!({"app": "voip", "users": 1}));
    assert_eq!(
        [&call["datagrams"], &call["fetches"], &call["tcp"]],
        [&json!(true), &json!(false), &Json::Null]
    );
    assert_eq!((&call["direction"], &call["noun"][1]), (&json!("forward"), &json!("calls")));
    let nowhere = group(json!({"app": "bulk", "flows": 1, "via": []}));
    assert_eq!((&nowhere["links"], &nowhere["tcp"]), (&json!([]), &json!("plain")));
    assert!(group(json!({"app": "packmime", "load": "50 %"}))["open_loop"].as_bool().unwrap());
}

#[test]
fn the_recorded_ports_are_those_of_the_run() {
    let (links, traffic) =
        (json!([{"rate": "1 Mbit/s"}]), json!([{"app": "bulk", "flows": 1, "side": "clients"}]));
    let text = json!({"duration": "1 s", "link": links, "traffic": traffic}).to_string();
    assert_eq!(
        resolve(&text, &Registry::ours(), &tcp::Controls::ours()).unwrap()["queues"],
        json!(Scenario::from_json(&text).unwrap().queues)
    );
    assert_eq!(resolved(&links, &traffic)["queues"], json!(["bottleneck.reverse"]));
}
