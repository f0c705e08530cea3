//! Dense Cholesky factorisation in place, for systems of a few to a few hundred unknowns.

/// Solves A x = b for a symmetric positive definite A; false, with both spoilt, if A is not.
///
/// * `a`: n × n, row-major, of which only the upper triangle is read; becomes Rᵀ R's R. * `b`: n, becomes x.
///
/// Right-looking, so that the inner loop runs along rows. n³/6 multiplications; allocates nothing. Source: Golub and Van
/// Loan, "Matrix Computations", 4th edition, algorithm 4.2.2.
pub(crate) fn solve(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for pivot in 0..n {
        let (above, below) = a.split_at_mut((pivot + 1) * n);
        let row = &mut above[pivot * n + pivot..];
        let diagonal = row[0];
        // Not a positive number: NaN too.
        if diagonal.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return false;
        }
        let inverse = 1.0 / diagonal.sqrt();
        row.iter_mut().for_each(|value| *value *= inverse);
        for (offset, other) in below.chunks_exact_mut(n).enumerate() {
            let factor = row[1 + offset];
            if factor != 0.0 {
                let tail = &mut other[pivot + 1 + offset..];
                for (value, r) in tail.iter_mut().zip(&row[1 + offset..]) {
                    *value -= factor * r;
                }
            }
        }
        // Rᵀ y = b along the way.
        b[pivot] *= inverse;
        let y = b[pivot];
        for (value, r) in b[pivot + 1..].iter_mut().zip(&row[1..]) {
            *value -= r * y;
        }
    }
    for (row, values) in a.chunks_exact(n.max(1)).enumerate().rev() {
        let known = values[row + 1..].iter().zip(&b[row + 1..]);
        let sum = known.fold(b[row], |sum, (r, x)| sum - r * x);
        // The diagonal of R is the square root of the pivot.
        b[row] = sum / values[row];
    }
    b.iter().all(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use anim_math::nalgebra::{DMatrix, DVector};
    use anim_math::random::Random;

    use super::*;

    #[test]
    fn solutions_leave_no_residual() {
        for n in 1..40usize {
            let mut random = Random::new(1, n as u64, 0);
            let root = DMatrix::from_fn(n, n, |_, _| f64::from(random.range(-1.0, 1.0)));
            let a = &root * root.transpose() + DMatrix::identity(n, n) * 0.1;
            let b = DVector::from_fn(n, |_, _| f64::from(random.range(-1.0, 1.0)));
            let (mut upper, mut x) = (a.as_slice().to_vec(), b.as_slice().to_vec());
            assert!(solve(&mut upper, &mut x));
            let residual = (&a * DVector::from_vec(x) - b).amax();
            assert!(residual < 1e-12, "{n}: {residual}");
        }
    }

    #[test]
    fn what_is_not_positive_is_refused() {
        assert!(!solve(&mut [1.0, 2.0, 2.0, 1.0], &mut [1.0, 1.0]));
        assert!(!solve(&mut [f64::NAN], &mut [1.0]));
        assert!(solve(&mut [], &mut []));
    }
}
