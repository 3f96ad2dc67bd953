//! Pictures as SVG, written by hand: axes, lines and dots are less than any drawing
//! library asks for, and files stay small enough to read.

use std::fmt::Write;

pub const FOREGROUND: &str = "#222222";
pub const GRID_COLOUR: &str = "#dddddd";

/// A style of strokes: dashes.
pub const DASHED_STROKE: &str = " stroke-dasharray=\"5 4\"";

/// A picture under way.
pub struct SvgCanvas {
    svg: String,
}

impl SvgCanvas {
    /// A white page with a title and a line below it.
    pub fn new((width, height): (f64, f64), left: f64, title: &str, line: &str) -> Self {
        let mut page = SvgCanvas { svg: String::new() };
        let _ = write!(
            page.svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\" \
             fill=\"{FOREGROUND}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        page.draw_text(left, 30.0, "start", "18", title);
        page.draw_text(left, 52.0, "start", "13", line);
        page
    }

    /// The finished picture.
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    pub fn draw_text(&mut self, x: f64, y: f64, anchor: &str, size: &str, text: &str) {
        let text = escape(text);
        let _ = writeln!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{text}</text>"
        );
    }

    /// A label of a vertical axis, read from below.
    pub fn draw_vertical_text(&mut self, x: f64, y: f64, text: &str) {
        let text = escape(text);
        let _ = writeln!(
            self.svg,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {y})\">{text}</text>"
        );
    }

    pub fn draw_line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.svg,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"
        );
    }

    pub fn draw_rectangle(
        &mut self,
        (left, top): (f64, f64),
        (width, height): (f64, f64),
        fill: &str,
    ) {
        let _ = writeln!(
            self.svg,
            "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
        );
    }

    pub fn draw_polyline(&mut self, places: &[(f64, f64)], colour: &str, style: &str) {
        let places: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{style}/>",
            places.join(" ")
        );
    }

    pub fn draw_dot(&mut self, (x, y): (f64, f64), colour: &str) {
        let _ =
            writeln!(self.svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>");
    }

    /// A short line in the style of a curve, and what that means.
    pub fn draw_legend_entry(
        &mut self,
        (x, y): (f64, f64),
        label: &str,
        colour: &str,
        style: &str,
    ) {
        let style = format!("stroke=\"{colour}\" stroke-width=\"2\"{style}");
        self.draw_line((x, y - 4.0), (x + 26.0, y - 4.0), &style);
        self.draw_text(x + 32.0, y, "start", "12", label);
    }

    /// Left and bottom edge of a panel, given as left and right, top and bottom.
    pub fn draw_axes(&mut self, (left, right): (f64, f64), (top, bottom): (f64, f64)) {
        let ink = format!("stroke=\"{FOREGROUND}\"");
        self.draw_line((left, bottom), (right, bottom), &ink);
        self.draw_line((left, top), (left, bottom), &ink);
    }

    /// A mark on the horizontal axis, and a label unless that has no room.
    pub fn draw_tick(&mut self, (x, bottom): (f64, f64), label: Option<&str>) {
        self.draw_line((x, bottom), (x, bottom + 5.0), &format!("stroke=\"{FOREGROUND}\""));
        if let Some(label) = label {
            self.draw_text(x, bottom + 19.0, "middle", "12", label);
        }
    }

    /// A faint line through the panel at a value of the vertical axis, and the value.
    pub fn draw_grid_line(&mut self, (left, right): (f64, f64), y: f64, label: &str) {
        self.draw_line((left, y), (right, y), &format!("stroke=\"{GRID_COLOUR}\""));
        self.draw_text(left - 8.0, y + 4.0, "end", "12", label);
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
