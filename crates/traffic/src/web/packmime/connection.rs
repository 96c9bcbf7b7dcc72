//! One PackMime connection: its pages, objects, gaps and sizes.

use packet::{Rng, math};

use super::laws::{
    CACHED_UPTO, LATER_RESPONSE, MORE_OBJECTS, MORE_PAGES, OBJECT_GAP, ONE_OBJECT, ONE_PAGE,
    PAGE_GAP, Varied,
};
use crate::distribution::whole_bytes;
use crate::fsd::gaussian;

/// The law [`Varied`] with the location and the scale of one connection.
#[derive(Clone, Copy, Debug)]
struct Settled {
    location: f64,
    scale: f64,
}

impl Settled {
    fn new(law: &Varied, rng: &mut Rng) -> Self {
        let location = law.location + law.location_sd * gaussian(rng);
        let scale = law.error_sd * math::sqrt(gamma(law.shape, rng) / law.shape);
        Settled { location, scale }
    }

    fn draw(&self, rng: &mut Rng) -> f64 {
        math::exp2(self.location + self.scale * gaussian(rng))
    }
}

/// A gamma value of this shape, at least 1: G. Marsaglia and W. W. Tsang, *A simple method for
/// generating gamma variables*, ACM TOMS 26, 2000.
fn gamma(shape: f64, rng: &mut Rng) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / math::sqrt(9.0 * d);
    loop {
        let x = gaussian(rng);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        if math::ln(1.0 - rng.uniform()) < 0.5 * x * x + d * (1.0 - v + math::ln(v)) {
            return d * v;
        }
    }
}

/// A number from 2 on: one more than an exponential value with this mean, rounded up.
fn two_or_more(mean: f64, rng: &mut Rng) -> u32 {
    let more = rng.exponential(mean);
    1 + (more as u32 + u32::from(more.fract() > 0.0)).max(1)
}

/// The requests of a persistent connection, in order. All random numbers of the connection come
/// from one generator of its own, so that its requests do not depend on delays and losses in the
/// network.
#[derive(Clone, Debug)]
pub struct Sequence {
    rng: Rng,
    pages_left: u32,
    /// Number of objects of the current page that have not been requested yet.
    objects_left: u32,
    many_pages: bool,
    first_response: u64,
    later: Settled,
    page_gap: Settled,
    object_gap: Settled,
}

impl Sequence {
    /// The requests of a connection whose first response has `first_response` bytes; the first
    /// request counts as made, and is to be sent by the caller.
    pub fn new(mut rng: Rng, first_response: u64) -> Self {
        let many_pages = rng.uniform() >= ONE_PAGE;
        let pages = if many_pages { two_or_more(MORE_PAGES, &mut rng) } else { 1 };
        let later = Settled::new(&LATER_RESPONSE, &mut rng);
        let page_gap = Settled::new(&PAGE_GAP, &mut rng);
        let object_gap = Settled::new(&OBJECT_GAP, &mut rng);
        let mut sequence = Sequence {
            rng,
            pages_left: pages,
            objects_left: 0,
            many_pages,
            first_response,
            later,
            page_gap,
            object_gap,
        };
        sequence.begin_page();
        sequence.objects_left -= 1; // the first request is to be sent
        sequence
    }

    fn begin_page(&mut self) {
        self.pages_left -= 1;
        self.objects_left = if self.many_pages && self.rng.uniform() < ONE_OBJECT {
            1
        } else {
            two_or_more(MORE_OBJECTS, &mut self.rng)
        };
    }

    /// Number of objects of the current page that have not been requested yet.
    pub fn objects_left(&self) -> u32 {
        self.objects_left
    }

    /// Whether no request is left.
    pub fn is_over(&self) -> bool {
        self.objects_left == 0 && self.pages_left == 0
    }

    /// Seconds from the last response to the next request.
    pub fn gap(&mut self) -> f64 {
        let law = if self.objects_left > 0 { self.object_gap } else { self.page_gap };
        law.draw(&mut self.rng)
    }

    /// Goes on to the next request, in a new page if this one is complete, and returns the size of
    /// its response.
    pub fn advance(&mut self) -> u64 {
        if self.objects_left == 0 {
            self.begin_page();
        }
        self.objects_left -= 1;
        if self.first_response > CACHED_UPTO {
            whole_bytes(self.later.draw(&mut self.rng), 1.0)
        } else {
            self.first_response
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean of 200,000 draws.
    fn mean(mut draw: impl FnMut() -> f64) -> f64 {
        (0..200_000).map(|_| draw()).sum::<f64>() / 2e5
    }

    #[test]
    fn scales_have_the_first_three_moments_of_a_gamma_law() {
        // A gamma law of shape k has mean k, variance k and third central moment 2 k. The tolerance
        // is five standard errors of each, from the moments of twice the order: k; 2 k^2 + 6 k; 15
        // k^3 + 130 k^2 + 120 k.
        for k in [1.85, 2.35, 3.22] {
            let of_order = |order: i32| {
                let mut rng = Rng::named(9, "gamma");
                mean(|| (gamma(k, &mut rng) - k).powi(order))
            };
            let orders = [
                (1, 0.0, k),
                (2, k, 2.0 * k * k + 6.0 * k),
                (3, 2.0 * k, 15.0 * k.powi(3) + 130.0 * k * k + 120.0 * k),
            ];
            for (order, expected, variance) in orders {
                let error = 5.0 * (variance / 2e5).sqrt();
                let found = of_order(order);
                assert!((found - expected).abs() < error, "{k}, order {order}: {found}");
            }
        }
    }

    #[test]
    fn gaps_within_a_page_are_shorter_than_those_between_pages() {
        // The medians are 2^-4.15 s within a page and 2^3.22 s between pages.
        let mut logarithms = [(0.0, 0), (0.0, 0)];
        for i in 0..4_000 {
            let mut sequence = Sequence::new(Rng::named(i, "connection"), 1);
            while !sequence.is_over() {
                let (sum, count) = &mut logarithms[usize::from(sequence.objects_left() == 0)];
                // Gaps of one kind on one connection share a location, so they are not independent.
                *sum += math::log2(sequence.gap());
                *count += 1;
                sequence.advance();
            }
        }
        for ((sum, count), location) in logarithms.into_iter().zip([-4.15, 3.22]) {
            let found = sum / f64::from(count);
            assert!((found - location).abs() < 0.2, "{found}, not {location}: {count}");
        }
    }

    #[test]
    fn of_many_pages_69_percent_have_one_object() {
        let sequences = (0..20_000).map(|i| Sequence::new(Rng::named(i, "connection"), 1));
        let many: Vec<Sequence> = sequences.filter(|sequence| sequence.many_pages).collect();
        let one = many.iter().filter(|sequence| sequence.objects_left == 0).count();
        // Some 3,600 sequences: five standard errors of the share are 0.039.
        let share = one as f64 / many.len() as f64;
        assert!((share - ONE_OBJECT).abs() < 0.039, "{share}");
    }
}
