#include "weft/base/lapack/Adapters.h"
#include "weft/base/lapack/Invocation.h"

namespace weft::lapack {

template <typename T> static void getrf(Invocation &of) {
  of.call(of['m'], of['n'], of.result<T>(0), of.rows(of['m']),
          of.result<int>(1), of.result<int>(2));
}

/// The other triangle of a matrix whose rows are columns to LAPACK.
static char flipped(char triangle) { return triangle == 'L' ? 'U' : 'L'; }

/// A = L L^H in rows is A^T = conj(L) L^T in columns: LAPACK's U is L^T.
template <typename T> static void potrf(Invocation &of) {
  of.call(flipped(of.option(0)), of['n'], of.result<T>(0), of.rows(of['n']),
          of.result<int>(1));
}

/// op(A) X = B in rows is X^T op(A)^T = B^T in columns, so sides and triangles
/// change, and the kind of op stays.
template <typename T> static void trsm(Invocation &of) {
  char side = of.option(0) == 'L' ? 'R' : 'L';
  of.call(side, flipped(of.option(1)), of.option(2), of.option(3), of['n'],
          of['m'], T(1), of.operand<T>(0), of.rows(of['s']), of.result<T>(0),
          of.rows(of['n']));
}

template <typename T> static void geqrf(Invocation &of) {
  Work<T> work = of.work<T>();
  of.call(of['m'], of['n'], of.result<T>(0), of.rows(of['m']), of.result<T>(1),
          work.data, work.size, of.info());
  of.ask(work);
}

template <typename T> static void geqp3(Invocation &of) {
  Work<T> work = of.work<T>();
  if constexpr (isPair<T>) {
    of.need(2 * int64_t(of['n']), WorkKind::Real);
    of.call(of['m'], of['n'], of.result<T>(0), of.rows(of['m']),
            of.result<int>(1), of.result<T>(2), work.data, work.size,
            of.work<Real<T>>(WorkKind::Real).data, of.info());
  } else {
    of.call(of['m'], of['n'], of.result<T>(0), of.rows(of['m']),
            of.result<int>(1), of.result<T>(2), work.data, work.size,
            of.info());
  }
  of.ask(work);
}

template <typename T> static void orgqr(Invocation &of) {
  Work<T> work = of.work<T>();
  of.call(of['m'], of['n'], of['t'], of.result<T>(0), of.rows(of['m']),
          of.operand<T>(1), work.data, work.size, of.info());
  of.ask(work);
}

template <typename T> static void ormqr(Invocation &of) {
  Work<T> work = of.work<T>();
  char side = of.option(0) ? 'L' : 'R';
  char kind = !of.option(1) ? 'N' : isPair<T> ? 'C' : 'T';
  of.call(side, kind, of['m'], of['n'], of['t'], of.operand<T>(0),
          of.rows(of['r']), of.operand<T>(1), of.result<T>(0), of.rows(of['m']),
          work.data, work.size, of.info());
  of.ask(work);
}

/// JAX's lower diagonal has a number for each row; LAPACK's begins with the
/// second row.
template <typename T> static void gtsv(Invocation &of) {
  of.call(of['n'], of['r'], of.result<T>(0) + 1, of.result<T>(1),
          of.result<T>(2), of.result<T>(3), of.rows(of['n']),
          of.result<int>(4));
}

template <typename T> static void trsyl(Invocation &of) {
  int sign = int(of.options[2]);
  of.call(of.option(0), of.option(1), sign, of['m'], of['n'], of.operand<T>(0),
          of.rows(of['m']), of.operand<T>(1), of.rows(of['n']), of.result<T>(0),
          of.rows(of['m']), of.result<Real<T>>(1), of.result<int>(2));
}

const Adapters kGetrf = WEFT_LAPACK_ADAPTERS(getrf);
const Adapters kPotrf = WEFT_LAPACK_ADAPTERS(potrf);
const Adapters kTrsm = WEFT_LAPACK_ADAPTERS(trsm);
const Adapters kGeqrf = WEFT_LAPACK_ADAPTERS(geqrf);
const Adapters kGeqp3 = WEFT_LAPACK_ADAPTERS(geqp3);
const Adapters kOrgqr = WEFT_LAPACK_ADAPTERS(orgqr);
const Adapters kOrmqr = WEFT_LAPACK_ADAPTERS(ormqr);
const Adapters kGtsv = WEFT_LAPACK_ADAPTERS(gtsv);
const Adapters kTrsyl = WEFT_LAPACK_ADAPTERS(trsyl);

} // namespace weft::lapack
