//! Helpers of the end-to-end suites.

#![allow(dead_code, reason = "each suite uses its part")]

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns a folder of real data next to the project; if it is missing, prints why the test is
/// skipped and returns `None`.
pub fn shared_data(what: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(what);
    if folder.exists() {
        return Some(folder);
    }
    report_skip(&format!("{} is absent", folder.display()));
    None
}

/// Prints on standard error why a test is skipped, bypassing the test runner, which
/// captures the output of passing tests.
pub fn report_skip(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

/// Whether tests shall use all lines of texts of which a part is enough in most runs.
pub fn use_all_lines() -> bool {
    std::env::var("MIRIAM_ALL_LINES").is_ok_and(|value| value == "1")
}

/// Returns the project's folder.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns a command of the binary under test, without access to the user's cache.
pub fn miriam() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_miriam"));
    command.env("MIRIAM_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
    command
}

/// Returns the environment of a process that finds the emulated GPU, with settings of its driver.
#[cfg(feature = "cuda")]
pub fn emulated_gpu(settings: &str) -> [(&'static str, std::ffi::OsString); 2] {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    miriam_emulated_driver::environment(folder, settings).expect("the emulated driver")
}

/// Runs `command`, which must succeed, and returns its standard output.
pub fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("the binary starts");
    assert!(output.status.success(), "{command:?}: {}", lossy_text(&output.stderr));
    output.stdout
}

/// Runs `command`, which must succeed, on a terminal and returns what it writes there; `None` where
/// there is no `script` of util-linux, which makes terminals.
pub fn run_on_terminal(command: &Command) -> Option<String> {
    let on_terminal = |line: &str| {
        let mut script = Command::new("script");
        script.args(["-qec", line, "/dev/null"]).stdin(Stdio::null()).env("TERM", "xterm");
        script
    };
    let probe = on_terminal("true").output();
    if !probe.is_ok_and(|output| output.status.success()) {
        report_skip("there is no `script` of util-linux");
        return None;
    }
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| format!("'{}'", word.to_str().expect("UTF-8")));
    let mut script = on_terminal(&words.collect::<Vec<_>>().join(" "));
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        script.current_dir(folder);
    }
    Some(lossy_text(&run(&mut script)))
}

/// Whether text after `shown` begins a line of the terminal, or replaces a whole line.
pub fn is_at_line_start(shown: &str) -> bool {
    ["\n", "\r\x1b[2K"].iter().any(|end| shown.ends_with(end))
}

/// Runs `command`, which must end with status 1, and returns the last line of its standard error,
/// the error message.
pub fn run_to_error(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("the binary starts");
    let stderr = lossy_text(&stderr);
    assert_eq!(status.code(), Some(1), "{command:?}: {stderr}");
    let line = stderr.lines().last().unwrap_or_default().to_owned();
    assert!(line.starts_with("miriam: "), "{stderr}");
    line
}

/// Runs `command`, which must end with status 2, and returns its standard error.
pub fn run_to_usage_error(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("the binary starts");
    let stderr = lossy_text(&stderr);
    assert_eq!(status.code(), Some(2), "{command:?}: {stderr}");
    stderr
}

/// Asks a process to end, by SIGTERM.
pub fn terminate(id: u32) {
    run(Command::new("kill").args(["-s", "TERM"]).arg(id.to_string()));
}

/// Converts bytes to text for messages.
pub fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the content of a plain, `.gz` or `.zst` file, decompressed.
pub fn read_decompressed(path: &Path) -> Vec<u8> {
    use std::io::Read;
    let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut bytes = Vec::new();
    match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes),
        Some("zst") => zstd::Decoder::new(file).and_then(|mut d| d.read_to_end(&mut bytes)),
        _ => std::io::BufReader::new(file).read_to_end(&mut bytes),
    }
    .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    bytes
}

/// Runs `command`, which must succeed, with `input` on its standard input.
pub fn run_with_input(command: &mut Command, input: &[u8]) -> Output {
    let output = output_with_input(command, input);
    assert!(output.status.success(), "{command:?}: {}", lossy_text(&output.stderr));
    output
}

/// Runs `command` with `input` as its standard input, however it ends.
pub fn output_with_input(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that ends early closes its input.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    output
}

/// Returns the files of a tar archive, by their names without folders.
pub fn untar(archive: &[u8]) -> HashMap<String, &[u8]> {
    let mut files = HashMap::new();
    let mut rest = archive;
    while rest.len() >= 512 && rest[0] != 0 {
        let until_zero =
            |bytes: &[u8]| lossy_text(bytes.split(|&b| b == 0 || b == b' ').next().unwrap());
        let size = usize::from_str_radix(&until_zero(&rest[124..136]), 8).unwrap();
        let name = until_zero(&rest[..100]);
        if !name.ends_with('/') {
            files.insert(name.rsplit('/').next().unwrap().to_owned(), &rest[512..512 + size]);
        }
        rest = &rest[512 + size.next_multiple_of(512)..];
    }
    files
}

/// Writes the files of the `.tar.zst` archive at `path` into the new folder
/// `folder`.
pub fn unpack_archive(path: &Path, folder: &Path) {
    std::fs::create_dir(folder).unwrap();
    for (name, bytes) in untar(&read_decompressed(path)) {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Returns the files under version control, relative to the project; without git, all files except
/// built and hidden ones.
pub fn tracked_files() -> Vec<PathBuf> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(project_root()).output();
    if let Ok(output) = output
        && output.status.success()
        && !output.stdout.is_empty()
    {
        let names = output.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        // A file that is being renamed may be listed but missing.
        let paths = names.map(|name| PathBuf::from(lossy_text(name)));
        return paths.filter(|path| project_root().join(path).exists()).collect();
    }
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(project_root().join(&folder)).expect("a folder of the project")
        {
            let entry = entry.expect("an entry of the folder");
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = folder.join(&name);
            match entry.file_type().expect("the entry's type") {
                _ if name.starts_with('.') || name == "target" => {}
                kind if kind.is_dir() => folders.push(path),
                _ => found.push(path),
            }
        }
    }
    found.sort();
    found
}

/// Returns the paths and contents of the tracked files with these extensions.
pub fn files_with_extensions(endings: &[&str]) -> Vec<(PathBuf, String)> {
    let mut paths = tracked_files();
    paths.retain(|path| {
        path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
    });
    let content = |path: &PathBuf| lossy_text(&read_decompressed(&project_root().join(path)));
    paths.into_iter().map(|path| (path.clone(), content(&path))).collect()
}
