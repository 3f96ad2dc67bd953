//! Contents of packages: version, completions, manual pages, licences, the Debian package,
//! the image's recipe, the static binary.

use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, report_skip, run};

/// Whether all of these programs can be started; prints which one cannot.
fn have(programs: &[&str]) -> bool {
    let missing =
        programs.iter().find(|name| Command::new(name).arg("--version").output().is_err());
    if let Some(name) = missing {
        report_skip(&format!("{name} is absent"));
    }
    missing.is_none()
}

#[test]
fn the_version_has_the_commit_and_the_features() {
    let version = lossy_text(&run(miriam().arg("--version")));
    let rest = version.strip_prefix("miriam 0.1.0").expect(&version);
    if project_root().join(".git").exists() && have(&["git"]) {
        let mut git = Command::new("git");
        let head = run(git.args(["rev-parse", "HEAD"]).current_dir(project_root()));
        let commit = rest.split("commit ").nth(1).and_then(|rest| rest.split([',', ')']).next());
        // The test may run on another commit than the one that was built, with the same sources.
        assert!(
            commit.is_some_and(|commit| commit.len() == 12),
            "{version} at {}",
            lossy_text(&head)
        );
    }
    assert_eq!(cfg!(feature = "cuda"), rest.contains("cuda"), "{version}");
    assert_eq!(cfg!(feature = "serve"), rest.contains("serve"), "{version}");
}

#[test]
fn bash_completes_options_of_clap_and_of_moses() {
    if !have(&["bash"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("miriam.bash");
    std::fs::write(&file, run(miriam().args(["completions", "bash"]))).unwrap();
    for (words, expected) in [
        ("miriam lm perplexity --per-l", "--per-line"),
        ("miriam translate --cube-pruning-p", "--cube-pruning-pop-limit"),
        ("miriam translate --nonbreaking-p", "--nonbreaking-prefixes"),
        ("miriam alig", "align"),
    ] {
        let (before, word) = words.rsplit_once(' ').unwrap();
        let previous = before.rsplit(' ').next().unwrap();
        let script = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _miriam miriam '{word}' '{previous}'; echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let found = lossy_text(&run(Command::new("bash").args(["--norc", "-c", &script])));
        assert_eq!(found.trim(), expected, "{words}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let text = lossy_text(&run(miriam().args(["completions", shell])));
        assert!(text.contains("cube-pruning-pop-limit"), "{shell}");
    }
}

#[test]
fn there_is_a_manual_page_for_each_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    run(miriam().arg("man").arg(folder.path()));
    for page in ["miriam", "miriam-align", "miriam-lm-perplexity", "miriam-nmt-translate"] {
        let text = std::fs::read_to_string(folder.path().join(format!("{page}.1"))).expect(page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
        let version = format!("\"miriam {}\"", env!("CARGO_PKG_VERSION"));
        let title = text.lines().find(|line| line.starts_with(".TH ")).unwrap();
        assert!(title.contains(&version), "{page}: {title}");
    }
    let translate = std::fs::read_to_string(folder.path().join("miriam-translate.1")).unwrap();
    for option in ["cube\\-pruning\\-pop\\-limit", "nonbreaking\\-prefixes"] {
        assert!(translate.contains(option), "{translate}");
    }
    if !have(&["groff"]) {
        return;
    }
    for page in std::fs::read_dir(folder.path()).unwrap() {
        let page = page.unwrap().path();
        let mut groff = Command::new("groff");
        let output = groff.args(["-man", "-Tascii", "-ww", "-z"]).arg(&page).output().unwrap();
        let warnings = lossy_text(&output.stderr);
        // Long words of synopses cannot be broken.
        let others = warnings.lines().filter(|line| !line.contains("cannot adjust line"));
        let others: Vec<&str> = others.filter(|line| !line.contains("cannot break line")).collect();
        assert!(output.status.success() && others.is_empty(), "{}: {others:?}", page.display());
    }
}

#[test]
fn notices_list_the_libraries_of_the_lock_file() {
    let notices = lossy_text(&run(miriam().arg("licenses")));
    assert!(notices.contains("\nclap 4.") && notices.contains("Permission is hereby granted"));
    if !have(&["python3", "cargo"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sbom = folder.path().join("sbom.json");
    let mut command = Command::new("python3");
    command.arg("packaging/make_notices.py").args(["--check", "--sbom"]).arg(&sbom);
    run(command.current_dir(project_root()));
    let sbom: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&sbom).unwrap()).expect("JSON");
    assert_eq!((&sbom["bomFormat"], &sbom["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let components = sbom["components"].as_array().expect("components");
    let listed = notices.lines().skip(4).take_while(|line| !line.is_empty()).count();
    assert_eq!(components.len(), listed);
    assert!(components.iter().all(|component| component["licenses"][0]["expression"].is_string()));
}

#[test]
fn the_debian_package_installs_and_runs() {
    if !have(&["dpkg", "dpkg-deb", "readelf", "objdump", "xz"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(project_root().join("packaging/build_deb.sh"));
    // Stripping symbols and compressing well take the most time, so they are left out here.
    command.env("KEEP_SYMBOLS", "1").env("COMPRESSION", "gzip -z1");
    let made = run(command.arg(env!("CARGO_BIN_EXE_miriam")).arg(folder.path()));
    let package = lossy_text(&made).trim().to_owned();
    let field = |name: &str| {
        lossy_text(&run(Command::new("dpkg-deb").args(["-f", &package, name]))).trim().to_owned()
    };
    assert_eq!((field("Package"), field("Version")), ("miriam".to_owned(), "0.1.0".to_owned()));
    assert!(field("Depends").starts_with("libc6 (>= 2."), "{}", field("Depends"));
    let root = folder.path().join("root");
    let database = root.join("var/lib/dpkg");
    for made in ["info", "updates", "triggers"] {
        std::fs::create_dir_all(database.join(made)).unwrap();
    }
    std::fs::write(database.join("status"), "").unwrap();
    let mut dpkg = Command::new("dpkg");
    dpkg.arg(format!("--root={}", root.display()));
    dpkg.args(["--force-not-root", "--force-depends", "--log=/dev/null", "-i", &package]);
    run(&mut dpkg);
    let version = lossy_text(&run(Command::new(root.join("usr/bin/miriam")).arg("--version")));
    assert!(version.starts_with("miriam 0.1.0"), "{version}");
    let lmplz = root.join("usr/lib/miriam/programs/lmplz");
    let help = Command::new(&lmplz).arg("--help").output().unwrap();
    assert!(lossy_text(&help.stdout).contains("Usage: lmplz"));
    let script = std::fs::read_to_string(root.join("usr/lib/miriam/programs/tokenizer.perl"));
    let script = script.expect("a file that Perl can read");
    assert!(script.starts_with("#!") && script.contains("'/usr/bin/miriam'"), "{script}");
    for file in [
        "etc/miriam/serve.toml",
        "usr/lib/systemd/system/miriam.service",
        "usr/share/man/man1/miriam-align.1.gz",
        "usr/share/bash-completion/completions/miriam",
        "usr/share/doc/miriam/copyright",
        "usr/share/doc/miriam/examples/moses.ini",
    ] {
        assert!(root.join(file).is_file(), "{file}");
    }
    let status = std::fs::read_to_string(database.join("status")).unwrap();
    assert!(status.contains("Status: install ok installed"), "{status}");
    assert!(status.contains("/etc/miriam/serve.toml"), "{status}");
}

/// The configuration in the packages is parsed, with and without its example. The only error is
/// that a model is missing.
#[cfg(feature = "serve")]
#[test]
fn the_packaged_configuration_is_read() {
    use crate::common::{run_to_error, run_to_usage_error};

    let configuration = project_root().join("packaging/serve.toml");
    let check = |path: &std::path::Path| {
        let mut command = miriam();
        command.args(["serve", "--check", "--config"]).arg(path);
        command
    };
    let message = run_to_usage_error(&mut check(&configuration));
    assert!(message.contains("there is no model"), "{message}");
    let text = std::fs::read_to_string(&configuration).unwrap();
    let (head, example) = text.split_once("# [[model]]").expect("an example");
    let folder = tempfile::tempdir().unwrap();
    let with_example = folder.path().join("serve.toml");
    std::fs::write(&with_example, format!("{head}[[model]]{}", example.replace("\n# ", "\n")))
        .unwrap();
    let message = run_to_error(&mut check(&with_example));
    assert!(message.contains("/var/lib/miriam/opus-mt-de-en"), "{message}");
}

#[test]
fn files_that_recipes_name_are_there() {
    let root = project_root();
    let recipe = std::fs::read_to_string(root.join("packaging/Dockerfile")).unwrap();
    let copied = recipe.lines().filter_map(|line| line.strip_prefix("COPY "));
    let copied: Vec<&str> = copied.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(copied, ["packaging/passwd", "target/packages/miriam"]);
    assert!(root.join("packaging/passwd").is_file());
    // The other file is written by the script that the recipe names.
    assert!(recipe.contains("packaging/build_static.sh target/packages/miriam"));
    let passwd = std::fs::read_to_string(root.join("packaging/passwd")).unwrap();
    assert!(passwd.contains(":65532:65532:") && recipe.contains("USER 65532:65532"));
    let unit = std::fs::read_to_string(root.join("packaging/miriam.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/miriam serve --config /etc/miriam/serve.toml\n"));
    // A binary with `cuda` finds GPUs; other devices are hidden.
    assert!(unit.contains("\nDevicePolicy=closed\nDeviceAllow=char-nvidia* rw\n"), "{unit}");
    assert!(!unit.contains("\nPrivateDevices="), "{unit}");
    // Status 2 is wrong usage, which a restart does not change.
    assert!(unit.contains("\nRestartPreventExitStatus=2\n"), "{unit}");
    if have(&["systemd-analyze"]) {
        let mut analyze = Command::new("systemd-analyze");
        let output = analyze.arg("verify").arg(root.join("packaging/miriam.service")).output();
        let message = lossy_text(&output.unwrap().stderr);
        // The program need not be installed where this runs.
        let others = message.lines().filter(|line| line.contains("miriam.service:"));
        let absent = |line: &&str| line.contains("not executable") || line.contains("Command 'man");
        let others: Vec<&str> = others.filter(|line| !absent(line)).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}

#[test]
fn the_static_binary_needs_nothing_beside_it() {
    let Some(binary) = std::env::var_os("MIRIAM_STATIC_BINARY") else {
        report_skip("MIRIAM_STATIC_BINARY names no binary of packaging/build_static.sh");
        return;
    };
    let mut command = Command::new(project_root().join("packaging/check_static.sh"));
    let printed = lossy_text(&run(command.arg(binary)));
    assert!(printed.contains("in an empty root folder"), "{printed}");
}

#[cfg(feature = "serve")]
#[test]
fn health_is_the_status_of_a_server() {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use crate::common::run_to_error;

    let ask = |status: &'static str| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/readyz", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let read = stream.read(&mut request).unwrap();
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
            lossy_text(&request[..read])
        });
        let output = miriam().args(["health", &url]).output().unwrap();
        let request = server.join().unwrap();
        assert!(request.starts_with("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:"), "{request}");
        (output.status.code(), lossy_text(&output.stderr))
    };
    assert_eq!(ask("200 OK").0, Some(0));
    let (code, message) = ask("503 Service Unavailable");
    assert!(code == Some(1) && message.contains("status 503"), "{message}");
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let message = run_to_error(miriam().args(["health", &format!("http://{gone}")]));
    assert!(message.contains(&gone.to_string()), "{message}");
}

/// Sockets that the documents name lie in the folder that the unit makes for the service.
#[test]
fn sockets_of_the_documents_fit_the_unit() {
    let read = |path: &str| std::fs::read_to_string(project_root().join(path)).unwrap();
    let unit = read("packaging/miriam.service");
    let folder = unit.lines().find_map(|line| line.strip_prefix("RuntimeDirectory=")).unwrap();
    let mut found = 0;
    for path in ["docs/serve.md", "packaging/serve.toml", "docs/packages.md"] {
        let text = read(path);
        for (place, _) in text.match_indices("/run/") {
            let name: String = text[place..]
                .chars()
                .take_while(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(*letter))
                .collect();
            found += 1;
            assert!(name.starts_with(&format!("/run/{folder}")), "{path}: {name}");
        }
    }
    assert!(found >= 4, "{found}");
}
