//! Numbers, parsed and printed like in Moses and KenLM.
//!
//! Moses reads scores with `atof`, narrows them to f32, and prints them with the six significant
//! digits of C++ streams. KenLM rounds decimals straight to f32. It prints the shortest decimal
//! that reads back as the same number, in ECMAScript's layout (`ngram-lm.md` 1.1, 1.4).

use std::io::Write;

/// Returns the f32 nearest to the f64 in `text`, like `atof` and a cast. `text` must be a decimal
/// number (`inf` and `nan` are rejected).
#[inline]
pub fn parse_f32_via_f64(text: &[u8]) -> Option<f32> {
    let value: f64 = fast_float2::parse(text).ok()?;
    value.is_finite().then_some(value as f32)
}

/// Returns the f32 nearest to `text`, which may be `inf` or `nan`.
#[inline]
pub fn parse_f32(text: &[u8]) -> Option<f32> {
    fast_float2::parse(text).ok()
}

/// Returns the decimal at the start of `text`, rounded like in [`parse_f32`], and its length in
/// bytes. Returns `None` for decimals that need a slower function. The others have 1 to 15 digits,
/// an optional minus and point, no exponent, and another byte after them, and are not half-way
/// between two f32.
#[inline]
pub fn parse_f32_prefix(text: &[u8]) -> Option<(f32, usize)> {
    /// More digits may not fit 53 bits.
    const MAX_DIGITS: usize = 15;
    const POWERS: [f64; MAX_DIGITS + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let sign = usize::from(text.first() == Some(&b'-'));
    let (mut end, mut mantissa) = (sign, 0u64);
    let mut digits = |end: &mut usize| loop {
        let byte = *text.get(*end)?;
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Some(byte);
        }
        // May overflow in text that is rejected below.
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        *end += 1;
    };
    let mut after = digits(&mut end)?;
    let (mut count, mut fraction) = (end - sign, 0);
    if after == b'.' {
        let point = end;
        end += 1;
        after = digits(&mut end)?;
        fraction = end - point - 1;
        count += fraction;
    }
    if !(1..=MAX_DIGITS).contains(&count) || after | 0x20 == b'e' {
        return None;
    }
    // Mantissa and power are exact, so the quotient is the f64 nearest to the decimal. Rounding it
    // again is correct unless it is exactly half-way between two f32: an f64 below such a midpoint
    // comes from a decimal below it.
    let quotient = mantissa as f64 / POWERS[fraction];
    if quotient.to_bits() & 0x1fff_ffff == 0x1000_0000 {
        return None;
    }
    let value = quotient as f32;
    Some((if sign == 1 { -value } else { value }, end))
}

/// Appends the integer `value` in decimal.
#[inline]
pub fn push_integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends the shortest decimal that is parsed as `value`, in ECMAScript's layout: without an
/// exponent from 1e-6 up to 1e21, otherwise with an exponent that has no `+` or padding. Of two
/// equally near decimals, the one with an even last digit is printed. Negative zero prints `-0`.
pub fn push_shortest_f32(out: &mut Vec<u8>, value: f32) {
    if value.is_finite() {
        push_ecmascript(out, ryu_js::Buffer::new().format_finite(value), f64::from(value));
    } else {
        push_non_finite(out, f64::from(value));
    }
}

/// Works like [`push_shortest_f32`], for an f64.
pub fn push_shortest_f64(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        push_ecmascript(out, ryu_js::Buffer::new().format_finite(value), value);
    } else {
        push_non_finite(out, value);
    }
}

/// Appends `text`, ECMAScript's form of `value`, as KenLM prints it: with the minus of a negative
/// zero, without the plus of an exponent.
fn push_ecmascript(out: &mut Vec<u8>, text: &str, value: f64) {
    if value == 0.0 && value.is_sign_negative() {
        out.push(b'-');
    }
    if value.abs() < 1e20 {
        out.extend_from_slice(text.as_bytes());
    } else {
        out.extend(text.bytes().filter(|&byte| byte != b'+'));
    }
}

fn push_non_finite(out: &mut Vec<u8>, value: f64) {
    let text: &[u8] = match value {
        f64::INFINITY => b"inf",
        f64::NEG_INFINITY => b"-inf",
        _ => b"NaN",
    };
    out.extend_from_slice(text);
}

/// Appends `value` in the default format of C++ streams (`%g`): six significant digits, without
/// trailing zeros.
pub fn push_general(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        return push_non_finite(out, value);
    }
    let mut scratch = NumberBuffer::default();
    write!(scratch, "{value:.5e}").expect("an f64 fits");
    let text = scratch.as_bytes();
    let at = text.iter().position(|&b| b == b'e').expect("has an exponent");
    let exponent: i32 = std::str::from_utf8(&text[at + 1..])
        .ok()
        .and_then(|e| e.parse().ok())
        .expect("is a number");
    if (-4..6).contains(&exponent) {
        let start = out.len();
        write!(out, "{value:.*}", (5 - exponent) as usize).expect("memory does not fail");
        trim_fraction(out, start);
    } else {
        let start = out.len();
        out.extend_from_slice(&text[..at]);
        trim_fraction(out, start);
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "e{sign}{:02}", exponent.abs()).expect("memory does not fail");
    }
}

/// Works like [`push_general`], for an f32; faster for common numbers.
pub fn push_general_f32(out: &mut Vec<u8>, value: f32) {
    // From this value on, 1e9 is the largest power of ten that is needed. It has 21 bits without
    // its factors of two, and an f32 has 24, so their products are exact in an f64.
    const SMALLEST: f32 = 1e-4;
    const POWERS: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
    let magnitude = f64::from(value.abs());
    if value == 0.0 && value.is_sign_positive() {
        out.push(b'0');
        return;
    }
    if !(value.abs() >= SMALLEST && magnitude < 999_999.5) {
        if !push_small_f32(out, value) {
            push_general(out, f64::from(value));
        }
        return;
    }
    // Without SSE4.1, the rounding functions of the standard library are calls; casts are not.
    if value >= 1.0 && value as u32 as f32 == value {
        return push_integer(out, value as u32);
    }
    // The number of digits after the point. `6 - decimals` significant digits are before it
    // (negative if zeros follow the point).
    let mut decimals = 5;
    while decimals > 0 && magnitude * POWERS[decimals] >= 999_999.5 {
        decimals -= 1;
    }
    while decimals < 9 && magnitude * POWERS[decimals + 1] < 999_999.5 {
        decimals += 1;
    }
    let mut digits = round_ties_even(magnitude * POWERS[decimals]);
    while decimals > 0 && digits.is_multiple_of(10) {
        digits /= 10;
        decimals -= 1;
    }
    let mut text = [0u8; 16];
    let mut at = text.len();
    let mut put = |byte: u8| {
        at -= 1;
        text[at] = byte;
    };
    let mut written = 0;
    while written <= decimals || digits > 0 {
        if written == decimals && decimals > 0 {
            put(b'.');
        }
        put(b'0' + (digits % 10) as u8);
        digits /= 10;
        written += 1;
    }
    if value < 0.0 {
        put(b'-');
    }
    out.extend_from_slice(&text[at..]);
}

/// Rounds a number from 0 to 2^31; halves go to even numbers.
fn round_ties_even(number: f64) -> u32 {
    // From this number on, neighbouring f64 differ by one, so the addition rounds.
    const SHIFT: f64 = (1u64 << 52) as f64;
    ((number + SHIFT) - SHIFT) as u32
}

/// Works like [`push_general`] for most numbers of magnitude 1e-16 to 1e-4; for others, it appends
/// nothing and returns false.
fn push_small_f32(out: &mut Vec<u8>, value: f32) -> bool {
    // These powers are exact as f64.
    const POWERS: [f64; 14] =
        [1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22];
    let magnitude = f64::from(value.abs());
    if !(1e-16..1e-4).contains(&magnitude) {
        return false;
    }
    // The largest power that leaves at most six digits before the point.
    let mut power = 1;
    while magnitude * POWERS[power + 1] < 999_999.5 {
        power += 1;
    }
    // Products are wrong by less than a millionth. If that could change the result, the caller
    // computes exact decimals.
    let scaled = magnitude * POWERS[power];
    let next = magnitude * POWERS[power + 1];
    let digits = round_ties_even(scaled);
    let is_close = (scaled - f64::from(digits)).abs() > 0.5 - 1e-6;
    if scaled > 999_999.4 || next < 999_999.6 || is_close {
        return false;
    }
    if value < 0.0 {
        out.push(b'-');
    }
    let mut text = [b'0'; 7];
    let mut rest = digits;
    for place in [6, 5, 4, 3, 2, 0] {
        text[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    text[1] = b'.';
    let zeros = text.iter().rev().take_while(|&&digit| digit == b'0').count();
    // Without digits after it, the point is left out, too.
    out.extend_from_slice(&text[..if zeros == 5 { 1 } else { 7 - zeros }]);
    // Six digits are before the point of the product.
    let exponent = 9 + power as u8 - 5;
    out.extend_from_slice(&[b'e', b'-', b'0' + exponent / 10, b'0' + exponent % 10]);
    true
}

fn trim_fraction(out: &mut Vec<u8>, start: usize) {
    if out[start..].contains(&b'.') {
        while out.last() == Some(&b'0') {
            out.pop();
        }
        if out.last() == Some(&b'.') {
            out.pop();
        }
    }
}

/// A buffer for one number in scientific notation.
struct NumberBuffer {
    bytes: [u8; 40],
    len: usize,
}

impl Default for NumberBuffer {
    fn default() -> Self {
        NumberBuffer { bytes: [0; 40], len: 0 }
    }
}

impl NumberBuffer {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Write for NumberBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let end = self.len + bytes.len();
        let free = self.bytes.get_mut(self.len..end).ok_or(std::io::ErrorKind::WriteZero)?;
        free.copy_from_slice(bytes);
        self.len = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shortest(value: f32) -> String {
        let mut out = Vec::new();
        push_shortest_f32(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    fn general(value: f64) -> String {
        let mut out = Vec::new();
        push_general(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    /// Values that KenLM's tools printed.
    #[test]
    fn shortest_as_kenlm_prints() {
        assert_eq!(shortest(-0.22026801), "-0.22026801");
        assert_eq!(shortest(-0.000023427434), "-0.000023427434");
        assert_eq!(shortest(1e-7), "1e-7");
        assert_eq!(shortest(-2.5e-9), "-2.5e-9");
        assert_eq!(shortest(0.000001), "0.000001");
        assert_eq!(shortest(-0.0), "-0");
        assert_eq!(shortest(0.0), "0");
        assert_eq!(shortest(-99.0), "-99");
        assert_eq!(shortest(123456.0), "123456");
        assert_eq!(shortest(1e20), "100000000000000000000");
        assert_eq!(shortest(1e21), "1e21");
        assert_eq!(shortest(f32::NEG_INFINITY), "-inf");
        // Two decimals of eight digits are equally close.
        assert_eq!(shortest(-221.0 / 512.0), "-0.43164062");
        assert_eq!(shortest(-2189.0 / 128.0), "-17.101562");
        let mut out = Vec::new();
        push_shortest_f64(&mut out, 35.7995255580844);
        assert_eq!(out, b"35.7995255580844");
    }

    #[test]
    fn integers_are_printed_in_decimal() {
        let mut out = Vec::new();
        push_integer(&mut out, u64::MAX);
        push_integer(&mut out, -7);
        assert_eq!(out, b"18446744073709551615-7");
    }

    /// Values that Moses2 and C's `%g` printed.
    #[test]
    fn general_as_cpp_streams_print() {
        assert_eq!(general(-549.862), "-549.862");
        assert_eq!(general(1e-10), "1e-10");
        assert_eq!(general(-0.000123), "-0.000123");
        assert_eq!(general(1234567.0), "1.23457e+06");
        assert_eq!(general(0.0000123456789), "1.23457e-05");
        assert_eq!(general(0.0), "0");
        assert_eq!(general(-9.0), "-9");
        assert_eq!(general(999999.5), "1e+06");
        assert_eq!(general(0.1 + 0.2), "0.3");
    }

    #[test]
    fn numbers_with_other_characters_are_rejected() {
        assert_eq!(parse_f32_via_f64(b"0.75"), Some(0.75));
        for bad in [&b""[..], b"x", b"1x", b"inf", b"nan", b"1 2"] {
            assert_eq!(parse_f32_via_f64(bad), None);
        }
        assert_eq!(parse_f32(b"-inf"), Some(f32::NEG_INFINITY));
    }

    fn check_plain(text: &str) {
        let parsed = parse_f32_prefix(format!("{text} ").as_bytes());
        if let Some((value, length)) = parsed {
            assert_eq!(length, text.len(), "{text}");
            assert_eq!(
                Some(value.to_bits()),
                parse_f32(text.as_bytes()).map(f32::to_bits),
                "{text}"
            );
        }
    }

    /// Expected output of `%g`; ties are at halves of the last digit.
    #[test]
    fn general_of_f32() {
        for (value, expected) in [
            (-549.8623f32, "-549.862"),
            (1e-10, "1e-10"),
            (-0.000123, "-0.000123"),
            (1e6, "1e+06"),
            (999999.5, "1e+06"),
            (999999.44, "999999"),
            (100000.0, "100000"),
            (1e-4, "0.0001"),
            (0.00012345678, "0.000123457"),
            (0.0, "0"),
            (-0.0, "-0"),
            (9.999996, "10"),
            (2.5, "2.5"),
            (131072.5, "131072"),
            (131073.5, "131074"),
            (2.3841858e-7, "2.38419e-07"),
            (f32::NEG_INFINITY, "-inf"),
        ] {
            let mut out = Vec::new();
            push_general_f32(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{value}");
        }
    }

    #[test]
    fn plain_decimals() {
        for (text, expected) in [
            ("-2.3528156\t", Some((-2.3528156, 10))),
            ("-99\n", Some((-99.0, 3))),
            ("0 ", Some((0.0, 1))),
            (".5x", Some((0.5, 2))),
            ("3. ", Some((3.0, 2))),
            ("1.5.2", Some((1.5, 3))),
            // No byte after the number, an exponent, a plus, no digits, or too many digits.
            ("-0.5", None),
            ("5e3 ", None),
            ("5.E3 ", None),
            ("+1 ", None),
            ("- ", None),
            (". ", None),
            ("inf ", None),
            ("1234567890123456 ", None),
            // Half-way between two f32.
            ("16777217 ", None),
        ] {
            assert_eq!(parse_f32_prefix(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(parse_f32_prefix(b"-0 ").unwrap().0.to_bits(), (-0.0f32).to_bits());
        // Decimals around midpoints of neighbours, where rounding twice fails.
        for bits in (0x3a80_0000u32..0x4100_0000).step_by(9973) {
            let midpoint =
                (f64::from(f32::from_bits(bits)) + f64::from(f32::from_bits(bits + 1))) / 2.0;
            for digits in 5..15 {
                check_plain(&format!("-{midpoint:.digits$}"));
            }
        }
    }

    proptest! {
        /// Compares the fast path with the general one, for bit patterns and common numbers.
        #[test]
        fn fast_path_equals_general(bits: u32, tenths in -20_000_000i32..20_000_000, scale in 0usize..8) {
            let usual = tenths as f32 / 10f32.powi(scale as i32);
            for value in [f32::from_bits(bits), usual] {
                let (mut fast, mut general) = (Vec::new(), Vec::new());
                push_general_f32(&mut fast, value);
                push_general(&mut general, f64::from(value));
                prop_assert_eq!(fast, general, "{}", value);
            }
        }

        #[test]
        fn plain_decimals_are_rounded_once(whole in 0u32..2000, fraction in "[0-9]{0,12}") {
            check_plain(&format!("{whole}.{fraction}"));
            check_plain(&format!("-{whole}.0{fraction}"));
        }

        #[test]
        fn shortest_reads_back(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let text = shortest(value);
            prop_assert_eq!(parse_f32(text.as_bytes()).unwrap().to_bits(), bits);
        }
    }
}
