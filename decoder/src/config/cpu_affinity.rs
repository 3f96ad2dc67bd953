//! The CPU of each worker: from Moses2's offset and increment, or from a list.

/// Returns the CPUs of a list such as `0,2,4-7`.
///
/// # Errors
/// If the list is malformed, or if this process may not use one of the CPUs.
pub(super) fn parse_cpu_list(list: &str) -> Result<Vec<usize>, String> {
    fn parse_cpu(text: &str) -> Option<usize> {
        text.parse::<usize>().ok().filter(|&cpu| cpu < 1 << 16)
    }
    let mut cpus = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (parse_cpu(first), parse_cpu(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => {
                return Err(format!(
                    "{part:?} is neither a CPU nor a range of CPUs; write a list such as 0,2,4-7"
                ));
            }
        }
    }
    if let Some(&cpu) = miriam_textio::affinity::allowed_cpus()
        .ok()
        .as_ref()
        .and_then(|allowed| cpus.iter().find(|cpu| !allowed.contains(cpu)))
    {
        return Err(format!("CPU {cpu} does not exist, or this process may not use it"));
    }
    Ok(cpus)
}

/// Returns a CPU for each of `workers` workers (`docs/spec/phrase-decoding.md` 4). Worker k gets
/// the CPU at index `offset` + k * `increment` of `allowed`, the CPUs that this process may use;
/// the index wraps around at the end. The result is empty if `offset` is negative or `allowed` is
/// empty.
pub(super) fn assign_round_robin(
    offset: i64,
    increment: i64,
    workers: usize,
    allowed: &[usize],
) -> Vec<usize> {
    let count = allowed.len() as i64;
    if offset < 0 || count == 0 {
        return Vec::new();
    }
    (0..workers as i64)
        .map(|k| k.wrapping_mul(increment).wrapping_add(offset).rem_euclid(count))
        .map(|index| allowed[index as usize])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_parsed_and_limited_to_those_allowed() {
        let allowed = miriam_textio::affinity::allowed_cpus().unwrap();
        let first = allowed[0];
        assert_eq!(parse_cpu_list(&format!("{first},{first}-{first}")).unwrap(), [first, first]);
        for wrong in ["", "a", "1-", "3-1", "0,,1", "-1", "99999999999"] {
            assert!(parse_cpu_list(wrong).unwrap_err().contains("0,2,4-7"), "{wrong}");
        }
        assert!(parse_cpu_list("65535").unwrap_err().contains("65535"));
    }

    #[test]
    fn workers_go_round_the_cpus_in_steps() {
        let allowed = [0, 1, 2, 3, 8, 9];
        assert_eq!(assign_round_robin(0, 1, 4, &allowed), [0, 1, 2, 3]);
        assert_eq!(assign_round_robin(4, 1, 4, &allowed), [8, 9, 0, 1]);
        assert_eq!(assign_round_robin(1, 2, 4, &allowed), [1, 3, 9, 1]);
        assert_eq!(assign_round_robin(0, 0, 2, &allowed), [0, 0]);
        assert!(assign_round_robin(-1, 1, 4, &allowed).is_empty());
        assert_eq!(assign_round_robin(i64::MAX, i64::MAX, 3, &allowed).len(), 3);
    }
}
