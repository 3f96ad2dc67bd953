//! Tests of configurations.

use super::*;

#[test]
fn a_file_in_toml() {
    let text = "listen = [\"127.0.0.1:0\"]\npivot = \"en\"\napis = [\"v1\", \"libre\"]\n\n\
                [limits]\nlines = 5\n\n[[model]]\nname = \"a\"\npath = \"x/moses.ini\"\n\
                from = [\"de\"]\nto = [\"en\"]\nkind = \"phrase\"\n";
    let found = Configuration::parse(text).unwrap();
    assert_eq!(found.limits, Limits { lines: 5, ..Limits::default() });
    assert_eq!(found.models[0].path, Path::new("x/moses.ini"));
    assert!(found.serves(Api::V1) && !found.serves(Api::DeepL));
    assert!(Configuration::default().serves(Api::DeepL));
    let wrong = Configuration::parse("listen = []\n[[model]]\nnam = \"a\"\n").unwrap_err();
    assert!(wrong.starts_with("line 3: unknown field `nam`"), "{wrong}");
    let none = Configuration::parse("pivot = \"en\"\napis = []\n").unwrap_err();
    assert_eq!(none, "line 2: apis: the list is empty; leave it out for all of them");
    assert!(wrong.contains("beam-size") && !wrong.contains('\n'), "{wrong}");
}

#[test]
fn paths_are_relative_to_the_folder_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server.toml");
    let text = "listen = []\naccess-log = \"-\"\napi-keys = \"keys\"\n\n[[model]]\nname = \"a\"\n\
                path = \"a\"\nvocabs = [\"b\"]\nlm = \"c\"\nnonbreaking-prefixes = \"d\"\n\
                shortlist = [\"e\", 50]\n";
    std::fs::write(&file, text).unwrap();
    let found = Configuration::read(&file).unwrap();
    let model = &found.models[0];
    let paths = [&model.path, &model.vocabs[0]].into_iter();
    let optional = [&model.lm, &model.nonbreaking_prefixes, &found.api_keys];
    let paths: Vec<_> = paths.chain(optional.into_iter().flatten()).collect();
    let expected = ["a", "b", "c", "d", "keys"].map(|name| dir.path().join(name));
    assert_eq!(paths, expected.iter().collect::<Vec<_>>());
    assert_eq!(found.access_log.as_deref(), Some(Path::new("-")));
    // An empty path is not the folder.
    for name in ["api-keys", "access-log"] {
        std::fs::write(&file, format!("{name} = \"\"\n")).unwrap();
        let error = Configuration::read(&file).unwrap_err().to_string();
        assert!(error.contains(&format!("{name}: the path is empty")), "{error}");
    }
}

#[test]
fn modes_of_sockets_are_octal() {
    let access = |mode: Option<&str>, unix: &[&str]| {
        let unix = unix.iter().map(Into::into).collect();
        Configuration { unix, unix_mode: mode.map(Into::into), ..Default::default() }
            .socket_access()
    };
    assert_eq!(access(None, &[]).unwrap().mode, 0o660);
    assert_eq!(access(Some("0666"), &["s"]).unwrap().mode, 0o666);
    assert_eq!(access(Some("600"), &["s"]).unwrap().mode, 0o600);
    for wrong in ["", "rw", "0888", "7777", "00666", "-1", "+660"] {
        assert!(access(Some(wrong), &["s"]).is_err(), "{wrong}");
    }
    assert!(access(Some("0666"), &[]).is_err(), "without a socket");
}

#[test]
fn names_paths_and_proxies_are_checked() {
    let model = |name: &str| ModelConfiguration {
        name: name.into(),
        path: "model".into(),
        ..Default::default()
    };
    let with = |models| Configuration { models, ..Default::default() }.check();
    let based = |base_path: &str, proxy: &str| {
        let (base_path, trusted_proxies) = (base_path.into(), vec![proxy.into()]);
        let models = vec![model("a")];
        Configuration { models, base_path, trusted_proxies, ..Default::default() }.check()
    };
    assert!(based("/mt", "10.0.0.0/8").is_ok());
    assert!(based("/my%20site/mt-1", "::1").is_ok());
    for (path, proxy) in [("mt", "::1"), ("/mt/", "::1"), ("/", "::1"), ("", "proxy")] {
        assert!(based(path, proxy).is_err(), "{path} {proxy}");
    }
    for path in ["/m t", "/mt?x", "/mt#x", "/ü"] {
        assert!(based(path, "::1").is_err(), "{path}");
    }
    assert!(with(vec![model("a"), model("b")]).is_ok());
    for wrong in [
        vec![],
        vec![model("")],
        vec![model("a"), model("a")],
        vec![model("a\0")],
        vec![model("a\nb")],
    ] {
        assert!(with(wrong).is_err());
    }
}

#[test]
fn settings_with_which_no_request_succeeds_are_named() {
    let model = ModelConfiguration {
        name: "a".into(),
        path: "model".into(),
        from: vec!["de".into()],
        to: vec!["en".into()],
        ..Default::default()
    };
    let sound = || Configuration { models: vec![model.clone()], ..Default::default() };
    let limits = |limits| Configuration { limits, ..sound() };
    let cors = |origin: &str| Configuration { cors: vec![origin.into()], ..sound() };
    let pivot = |code: &str| Configuration { pivot: Some(code.into()), ..sound() };
    let threads = |threads, io_threads| Configuration { threads, io_threads, ..sound() };
    for good in [
        cors("*"),
        cors("null"),
        cors("https://example.org:8080"),
        cors("http://localhost:443"),
        cors("app2://localhost"),
        cors("http://[::1]:8080"),
        cors("safari-web-extension://0CA4DD2F-3B1C"),
        pivot("en"),
        pivot("EN-gb"),
        limits(Limits { characters: Some(1), ..Limits::default() }),
        threads(Some(4096), Some(1)),
    ] {
        assert!(good.check().is_ok(), "{good:?}");
    }
    for (wrong, part) in [
        (cors("example.org"), "is not an origin"),
        (cors("https://example.org/"), "is not an origin"),
        (cors("https://*.example.org"), "is not an origin"),
        (cors("https://Example.org"), "is not an origin"),
        (cors("HTTPS://example.org"), "is not an origin"),
        (cors("https://example.org:443"), "is not an origin"),
        (cors("http://localhost:80"), "is not an origin"),
        (cors("https://münchen.example"), "is not an origin"),
        (pivot("fr"), "no model has the language"),
        (limits(Limits { lines: 0, ..Limits::default() }), "lines is 0"),
        (limits(Limits { deadline_ms: 0, ..Limits::default() }), "deadline-ms is 0"),
        (limits(Limits { characters: Some(0), ..Limits::default() }), "characters is 0"),
        (limits(Limits { connections: 0, ..Limits::default() }), "connections is 0"),
        (limits(Limits { n_best: 0, ..Limits::default() }), "n-best is 0"),
        (threads(Some(0), None), "threads is 0; give a number from 1 to 4096"),
        (threads(Some(5000), None), "threads is 5000"),
        (threads(None, Some(0)), "io-threads is 0"),
        (threads(None, Some(100_000)), "io-threads is 100000"),
        (Configuration { unix: vec!["".into()], ..sound() }, "unix: the path is empty"),
        (Configuration { api_keys: Some("".into()), ..sound() }, "leave api-keys out"),
        (
            limits(Limits { idle_seconds: i64::MAX as u64, ..Limits::default() }),
            "idle-seconds is more than 1000000000",
        ),
    ] {
        let error = wrong.check().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let nowhere = ModelConfiguration { path: "".into(), ..model.clone() };
    let error = Configuration { models: vec![nowhere], ..Default::default() }.check();
    assert!(error.unwrap_err().to_string().contains("it has no path"));
}

#[test]
fn groups_of_protocols_have_names() {
    for (number, (api, name)) in Api::ALL.into_iter().enumerate() {
        assert_eq!((name.parse::<Api>().unwrap(), api as usize), (api, number));
    }
}
