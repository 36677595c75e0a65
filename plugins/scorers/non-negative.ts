/**
 * Solves `moments` x result = `cross` for a symmetric positive definite matrix (by row), with no number of the result below 0: while
 * one is, the most negative is held at 0 and the rest is solved again. The result stays as it is if there is no solution.
 */
export function solveNonNegative(moments: Float64Array, cross: Float64Array, result: Float64Array): void {
  const size = cross.length;
  const free = Array.from({ length: size }, (_, index) => index);
  while (free.length > 0) {
    const solved = solve(moments, cross, free);
    if (solved === undefined) return;
    const least = Math.min(...solved);
    if (least >= 0) {
      result.fill(0);
      for (const [place, index] of free.entries()) result[index] = solved[place]!;
      return;
    }
    free.splice(solved.indexOf(least), 1);
  }
  result.fill(0);
}

/** The solution for the rows and columns in `free`, by Cholesky's method; undefined if the matrix is not positive definite. */
function solve(moments: Float64Array, cross: Float64Array, free: readonly number[]): number[] | undefined {
  const size = cross.length;
  const lower: number[][] = [];
  const solved: number[] = [];
  for (const [row, index] of free.entries()) {
    const own: number[] = [];
    for (let column = 0; column <= row; column++) {
      let sum = moments[index * size + free[column]!]!;
      for (let k = 0; k < column; k++) sum -= own[k]! * (column === row ? own : lower[column]!)[k]!;
      if (column < row) own.push(sum / lower[column]![column]!);
      else if (sum > 0) own.push(Math.sqrt(sum));
      else return undefined;
    }
    lower.push(own);
    let right = cross[index]!;
    for (let k = 0; k < row; k++) right -= own[k]! * solved[k]!;
    solved.push(right / own[row]!);
  }
  for (let row = free.length - 1; row >= 0; row--) {
    let sum = solved[row]!;
    for (let k = row + 1; k < free.length; k++) sum -= lower[k]![row]! * solved[k]!;
    solved[row] = sum / lower[row]![row]!;
  }
  return solved.every(Number.isFinite) ? solved : undefined;
}
