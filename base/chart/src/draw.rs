//! Drawing of charts by `plotters`, which places axes, labels and curves and writes SVG.
//!
//! Ticks and their labels come from [`Axis`]: in `plotters`, logarithmic axes have another type
//! than linear ones, and axes of floats cannot label chosen values. Dashes are separate strokes,
//! because the SVG backend of `plotters` draws no dashed lines.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::layout::{LEFT, PLOT_PIXELS, RIGHT};
use crate::{Axis, Chart, Colour, LineStyle, Panel};

const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
const SHADE: RGBColor = RGBColor(0xf6, 0xf2, 0xe8);
const BOUNDARY: RGBColor = RGBColor(0xb9, 0xae, 0x94);

/// The height of a line of text, in pixels.
const LINE_HEIGHT: u32 = 20;
/// The height of the title, in pixels.
const TITLE_HEIGHT: u32 = 40;
/// The space above a panel, in pixels.
const PANEL_MARGIN: u32 = 14;
/// The height of the horizontal axis below a panel, with labels of one line, in pixels.
const X_LABEL_HEIGHT: u32 = 26;
/// The distance between a horizontal axis and its labels, in pixels.
const X_LABEL_DISTANCE: u32 = 10;
/// The distance from one line to the next in a label of a horizontal axis, in pixels.
const X_LABEL_LINE: u32 = 16;
/// The width of the line in a legend entry, in pixels.
const LEGEND_LINE_WIDTH: i32 = 26;
/// The length of a dash, in pixels.
const DASH: i32 = 5;
/// The length of the gap between dashes, in pixels.
const DASH_GAP: i32 = 4;
/// An estimate of the width of a letter in the legend and in labels of bands, in pixels.
const LETTER_WIDTH: i32 = 8;
/// The width of the space for a label of the legend beyond its letters, in pixels.
const LABEL_SPACE: i32 = 24;

type SvgArea<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type SvgPanel<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<Coordinate<'a>, Coordinate<'a>>>;
/// The result of drawing; writing to a string never fails.
type DrawResult<'a> =
    Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

/// An axis as a coordinate of `plotters`.
struct Coordinate<'c>(&'c Axis);

impl Ranged for Coordinate<'_> {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        start + (self.0.share(*value) * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.0.ticks.iter().map(|tick| tick.0).collect()
    }

    fn range(&self) -> Range<f64> {
        f64::NEG_INFINITY..f64::INFINITY
    }
}

impl ValueFormatter<f64> for Coordinate<'_> {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.0.ticks.iter().find(|tick| tick.0 == *value);
        // A text in SVG has one line only; `draw_further_label_lines` draws the others.
        tick.and_then(|tick| tick.1.lines().next()).unwrap_or_default().to_owned()
    }
}

impl Chart {
    /// Returns the chart as an SVG document.
    pub fn to_svg(&self) -> String {
        let legend_lines = self.legend.len().div_ceil(self.legend_grid().1) as u32;
        let band_lines = u32::from(!self.bands.is_empty());
        let head_lines = self.notes.len() as u32 + legend_lines + band_lines;
        let head_height = TITLE_HEIGHT + LINE_HEIGHT * head_lines;
        let panel_heights: u32 = self.panels.iter().map(|panel| self.height_with_axis(panel)).sum();
        let mut svg = String::new();
        // The last line is the label of the horizontal axis.
        let height = head_height + panel_heights + LINE_HEIGHT;
        self.draw(&mut svg, head_height, height).expect("writing to a string never fails");
        svg
    }

    /// Returns the height of the labels below a panel, in pixels.
    fn x_label_height(&self) -> u32 {
        X_LABEL_HEIGHT + X_LABEL_LINE * (self.x_axis.label_lines() - 1)
    }

    /// Returns the height of a panel with its horizontal axis and margin, in pixels.
    fn height_with_axis(&self, panel: &Panel) -> u32 {
        PANEL_MARGIN + panel.height + self.x_label_height()
    }

    /// Returns the width of a legend entry in pixels, and the number of entries per row.
    fn legend_grid(&self) -> (i32, usize) {
        let longest = self.legend.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let width = LEGEND_LINE_WIDTH + LETTER_WIDTH * longest as i32 + LABEL_SPACE;
        (width, ((Self::WIDTH - LEFT) as i32 / width).max(1) as usize)
    }

    /// Returns the labels of bands from right to left, each with the horizontal position of its
    /// middle, in pixels. A label is above the middle of its band, or further left if the label
    /// after it needs the space. Only the last label may be wider than its band; it then ends where
    /// the axis ends. Other labels that do not fit are left out.
    fn band_labels(&self) -> Vec<(i32, &str)> {
        let mut band_end = f64::from(Self::WIDTH - RIGHT);
        let mut free_to = band_end;
        let mut labels = Vec::new();
        for band in self.bands.iter().rev() {
            let band_start = f64::from(LEFT) + self.x_axis.share(band.from) * PLOT_PIXELS;
            let half = f64::from(LETTER_WIDTH) * band.label.chars().count() as f64 / 2.0;
            let middle = ((band_start + band_end) / 2.0).min(free_to - half);
            let fits = labels.is_empty()
                || (2.0 * half <= band_end - band_start && middle - half >= band_start);
            if fits && middle - half >= f64::from(LEFT) {
                labels.push((middle.round() as i32, &band.label[..]));
                free_to = middle - half - f64::from(LETTER_WIDTH);
            }
            band_end = band_start;
        }
        labels
    }

    /// Draws the page of `height` pixels: a head of `head_height` pixels, the panels, and the label
    /// of the horizontal axis.
    fn draw<'a>(&self, svg: &'a mut String, head_height: u32, height: u32) -> DrawResult<'a> {
        let page = SVGBackend::with_string(svg, (Self::WIDTH, height)).into_drawing_area();
        page.fill(&WHITE)?;
        let left = LEFT as i32;
        draw_text(&page, (left, 24), 22, &self.title)?;
        let mut y = TITLE_HEIGHT as i32 + 4;
        for note in &self.notes {
            draw_text(&page, (left, y), 15, note)?;
            y += LINE_HEIGHT as i32;
        }
        let (width, columns) = self.legend_grid();
        for (i, (label, style)) in self.legend.iter().enumerate() {
            let (row, column) = ((i / columns) as i32, (i % columns) as i32);
            let x = left + width * column;
            let row_y = y + LINE_HEIGHT as i32 * row;
            draw_legend_line(&page, vec![(x, row_y), (x + LEGEND_LINE_WIDTH, row_y)], *style)?;
            draw_text(&page, (x + LEGEND_LINE_WIDTH + 6, row_y), 15, label)?;
        }
        for (middle, label) in self.band_labels() {
            let style = text_style(15).pos(Pos::new(HPos::Center, VPos::Center));
            page.draw(&Text::new(label, (middle, (head_height - LINE_HEIGHT / 4) as i32), style))?;
        }
        let mut rest = page.split_vertically(head_height).1;
        for panel in &self.panels {
            let (area, below) = rest.split_vertically(self.height_with_axis(panel));
            self.draw_panel(&area, panel)?;
            rest = below;
        }
        let middle = ((LEFT + Self::WIDTH - RIGHT) / 2) as i32;
        let style = text_style(16).pos(Pos::new(HPos::Center, VPos::Bottom));
        rest.draw(&Text::new(&self.x_axis.label[..], (middle, 14), style))?;
        page.present()
    }

    /// Draws a panel with its axes, bands and curves.
    fn draw_panel<'a>(&self, area: &SvgArea<'a>, panel: &Panel) -> DrawResult<'a> {
        let mut chart = ChartBuilder::on(area)
            .margin_right(RIGHT)
            .margin_top(PANEL_MARGIN)
            .x_label_area_size(self.x_label_height())
            .margin_left(10)
            .y_label_area_size(LEFT - 10)
            .build_cartesian_2d(Coordinate(&self.x_axis), Coordinate(&panel.y_axis))?;
        for (index, band) in self.bands.iter().enumerate().filter(|(_, band)| band.is_shaded) {
            let to = self.bands.get(index + 1).map_or(f64::INFINITY, |next| next.from);
            let corners = [(band.from, f64::INFINITY), (to, f64::NEG_INFINITY)];
            chart.draw_series([Rectangle::new(corners, SHADE.filled())])?;
        }
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(text_style(15))
            .axis_desc_style(text_style(16))
            .y_desc(&panel.y_axis.label[..])
            .draw()?;
        for band in self.bands.iter().skip(1) {
            let ends = [(band.from, f64::NEG_INFINITY), (band.from, f64::INFINITY)];
            chart.draw_series([PathElement::new(ends, BOUNDARY)])?;
        }
        for curve in &panel.curves {
            let (points, colour) = (&curve.points, rgb(curve.style.colour));
            draw_curve(&mut chart, points, curve.style)?;
            for &(x, low, high) in &curve.error_bars {
                let bar = [low, high].map(|y| EmptyElement::at((x, y)) + cap(colour));
                chart.draw_series(bar)?;
                chart.draw_series([PathElement::new([(x, low), (x, high)], colour)])?;
            }
            if curve.markers {
                chart.draw_series(points.iter().map(|&at| Circle::new(at, 4, colour.filled())))?;
            }
        }
        self.draw_further_label_lines(area, PANEL_MARGIN + panel.height + X_LABEL_DISTANCE)
    }

    /// Draws the second and later lines of the horizontal axis's labels. The tops of the first
    /// lines are `first_top` pixels below the top of `area`.
    fn draw_further_label_lines<'a>(&self, area: &SvgArea<'a>, first_top: u32) -> DrawResult<'a> {
        let style = text_style(15).pos(Pos::new(HPos::Center, VPos::Top));
        for (value, label) in &self.x_axis.ticks {
            let x = f64::from(LEFT) + self.x_axis.share(*value) * PLOT_PIXELS;
            for (line, text) in (0u32..).zip(label.lines()).skip(1) {
                let place = (x.round() as i32, (first_top + X_LABEL_LINE * line) as i32);
                area.draw(&Text::new(text, place, style.clone()))?;
            }
        }
        Ok(())
    }
}

/// Returns the short line at an end of an error bar, relative to this end.
fn cap(colour: RGBColor) -> PathElement<(i32, i32)> {
    PathElement::new([(-4, 0), (4, 0)], colour)
}

/// Draws a curve in the coordinates of its panel.
fn draw_curve<'b>(
    chart: &mut SvgPanel<'_, 'b>,
    points: &[(f64, f64)],
    style: LineStyle,
) -> DrawResult<'b> {
    let line = rgb(style.colour).stroke_width(2);
    if style.is_dashed {
        chart.draw_series([DashedPathElement::new(points.to_vec(), DASH, DASH_GAP, line)])?;
    } else {
        chart.draw_series([PathElement::new(points, line)])?;
    }
    Ok(())
}

/// Draws the line of a legend entry along `path`, in pixels of the page.
fn draw_legend_line<'a>(
    area: &SvgArea<'a>,
    path: Vec<(i32, i32)>,
    style: LineStyle,
) -> DrawResult<'a> {
    let line = rgb(style.colour).stroke_width(2);
    if style.is_dashed {
        area.draw(&DashedPathElement::new(path, DASH, DASH_GAP, line))
    } else {
        area.draw(&PathElement::new(path, line))
    }
}

/// Draws a line of text; `place` is the middle of its left edge, and `size` its height, in pixels.
fn draw_text<'a>(area: &SvgArea<'a>, place: (i32, i32), size: u32, text: &str) -> DrawResult<'a> {
    let style = text_style(size).pos(Pos::new(HPos::Left, VPos::Center));
    area.draw(&Text::new(text, place, style))
}

fn text_style(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

fn rgb(Colour(red, green, blue): Colour) -> RGBColor {
    RGBColor(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::{LETTER_WIDTH, RIGHT};
    use crate::{Axis, Band, Chart, Colour, Curve, LineStyle, Panel};

    const BLUE: Colour = Colour(0x1f, 0x5f, 0xa8);

    fn chart(points: &[(f64, f64)]) -> Chart {
        let dashed = LineStyle::dashed(BLUE);
        let curve = Curve {
            markers: true,
            error_bars: points.iter().map(|&(x, y)| (x, y / 2.0, y * 2.0)).collect(),
            ..Curve::new(LineStyle::solid(BLUE), points)
        };
        let panel = |y_axis| Panel {
            height: 200,
            y_axis,
            curves: vec![curve.clone(), Curve::new(dashed, points)],
        };
        Chart {
            title: "Speed & size <of things>".into(),
            notes: vec!["of here".into(), "and \"there\"".into()],
            legend: vec![("measured".into(), curve.style), ("ideal".into(), dashed)],
            x_axis: Axis::logarithmic("size", [1.0, 1e4]),
            panels: vec![
                panel(Axis::logarithmic("bytes", [1e3])),
                panel(Axis::linear("s", 0.0, 9.0)),
            ],
            bands: vec![
                Band { from: 1.0, label: "small".into(), is_shaded: false },
                Band { from: 10.0, label: "beyond".into(), is_shaded: true },
            ],
        }
    }

    /// Draws curves that leave their panels on all sides, and curves without points.
    #[test]
    fn everything_lies_on_the_page() {
        let wild = [(0.0, -5.0), (10.0, 1e9), (100.0, f64::NAN), (1e9, 2.0)];
        for points in [&wild[..], &[]] {
            let svg = chart(points).to_svg();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let root = document.root_element();
            let size = |name| root.attribute(name).unwrap().parse::<f64>().unwrap();
            let (width, height) = (size("width"), size("height"));
            let check = |number: &str, most: f64| {
                let number: f64 = number.parse().unwrap();
                assert!((0.0..=most).contains(&number), "{number} of {most}: {svg}");
            };
            for attribute in document.descendants().flat_map(|node| node.attributes()) {
                match attribute.name() {
                    "x" | "x1" | "x2" | "cx" => check(attribute.value(), width),
                    "y" | "y1" | "y2" | "cy" => check(attribute.value(), height),
                    "points" => {
                        for point in attribute.value().split_whitespace() {
                            let (x, y) = point.split_once(',').unwrap();
                            check(x, width);
                            check(y, height);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn points_are_circles_at_their_places_and_labels_are_text() {
        let svg = chart(&[(1.0, 1e3), (10.0, 5e3), (1e4, 9e3)]).to_svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let dots: Vec<(&str, &str)> = document
            .descendants()
            .filter(|node| node.tag_name().name() == "circle")
            .map(|dot| (dot.attribute("cx").unwrap(), dot.attribute("cy").unwrap()))
            .collect();
        assert_eq!(dots.len(), 2 * 3);
        let x: Vec<f64> = dots[..3].iter().map(|dot| dot.0.parse().unwrap()).collect();
        // The axis has the four decades from 1 to 10,000, so 10 is at a quarter of it.
        assert!(((x[1] - x[0]) / (x[2] - x[0]) - 0.25).abs() < 0.01, "{x:?}");
        let texts: Vec<&str> = document
            .descendants()
            .filter(|n| n.is_text())
            .filter_map(|n| n.text())
            .map(str::trim)
            .collect();
        for text in ["Speed & size <of things>", "and \"there\"", "ideal", "size", "bytes", "10k"] {
            assert!(texts.contains(&text), "{text}: {texts:?}");
        }
        assert_eq!(texts.iter().filter(|&&text| text == "beyond").count(), 1);
    }

    #[test]
    fn labels_of_two_lines_are_below_each_other() {
        let names = ["baseline", "+ cached context", "c", "d", "e", "f", "g", "h"];
        let points: Vec<(f64, f64)> = (0u32..8).map(|place| (f64::from(place), 1.0)).collect();
        let x_axis = Axis::categories("setting", &names);
        let chart = Chart { x_axis, bands: Vec::new(), ..chart(&points) };
        let svg = chart.to_svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let places = |text: &str| {
            let nodes = document.descendants().filter(|node| {
                node.tag_name().name() == "text" && node.text().unwrap_or_default().trim() == text
            });
            let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> i32 {
                node.attribute(name).unwrap().parse().unwrap()
            };
            nodes.map(|node| (number(&node, "x"), number(&node, "y"))).collect::<Vec<_>>()
        };
        let (first, second) = (places("+ cached"), places("context"));
        assert_eq!((first.len(), second.len()), (2, 2), "a label in each panel: {svg}");
        for (first, second) in first.iter().zip(&second) {
            assert!((first.0 - second.0).abs() <= 1, "{first:?}, {second:?}");
            assert!((12..20).contains(&(second.1 - first.1)), "{first:?}, {second:?}");
        }
        assert!(second[1].1 + 12 < places("setting")[0].1, "{second:?}: {svg}");
    }

    /// Wide bands, a narrow last band, and two narrow first bands.
    #[test]
    fn labels_of_bands_do_not_overlap() {
        let middles = |bands: &[(f64, &str)], counts: &[usize]| {
            let bands = bands.iter().map(|&(from, label)| Band {
                from,
                label: label.into(),
                is_shaded: true,
            });
            let axis = Axis::counts("threads", counts);
            let chart = Chart { x_axis: axis, bands: bands.collect(), ..chart(&[]) };
            let labels = chart.band_labels();
            labels.iter().map(|&(middle, label)| (middle, label.to_owned())).collect::<Vec<_>>()
        };
        let halves = middles(&[(0.0, "cores"), (64.5, "hyperthreads")], &[1, 64, 128]);
        assert_eq!(halves[0].1, "hyperthreads");
        assert!((640..660).contains(&halves[0].0), "{halves:?}");
        assert!((270..290).contains(&halves[1].0), "{halves:?}");
        let narrow = middles(&[(0.0, "cores"), (127.5, "hyperthreads")], &[1, 128]);
        let half_of = |label: &str| LETTER_WIDTH * label.len() as i32 / 2;
        let axis_end = (Chart::WIDTH - RIGHT) as i32;
        assert_eq!(narrow[0], (axis_end - half_of("hyperthreads"), "hyperthreads".into()));
        let cores_end = narrow[1].0 + half_of("cores");
        let hyperthreads_start = narrow[0].0 - half_of("hyperthreads");
        assert!(cores_end < hyperthreads_start, "{narrow:?}");
        let crowded = middles(&[(0.0, "cores"), (1.5, "more cores"), (2.5, "rest")], &[1, 128]);
        assert_eq!(crowded.len(), 1, "{crowded:?}");
        assert!(middles(&[], &[1]).is_empty());
    }
}
