import { expect, type TestContext } from 'vitest';

/** A measured figure with its bound, as `npm run trial` and `npm run attack` print it. */
export type JudgedFigure = {
  readonly what: string;
  readonly figure: string;
  readonly bound: string;
  readonly verdict: 'held' | 'BROKEN' | 'not judged';
};

declare module 'vitest' {
  interface TaskMeta {
    figure?: string;
    figures?: JudgedFigure[];
  }
}

type Limit = { readonly atMost: number } | { readonly atLeast: number } | { readonly equals: number };

export type Bound = Limit & {
  readonly unit?: string;
  /** False in short forms, for bounds of time and memory: a busy machine would break them without a fault. */
  readonly isJudged?: boolean;
};

const DECIMALS = 3;
const shown = (value: number, unit: string | undefined): string =>
  `${Number(value.toFixed(DECIMALS)).toLocaleString('en')}${unit === undefined ? '' : ` ${unit}`}`;

const isWithin = (value: number, bound: Limit): boolean => {
  if ('atMost' in bound) return value <= bound.atMost;
  return 'atLeast' in bound ? value >= bound.atLeast : value === bound.equals;
};

const shownBound = (bound: Bound): string => {
  if ('atMost' in bound) return `<= ${shown(bound.atMost, bound.unit)}`;
  return 'atLeast' in bound
    ? `>= ${shown(bound.atLeast, bound.unit)}`
    : `= ${shown(bound.equals, bound.unit)}`;
};

/** A broken bound fails the test, which goes on so that later figures are printed. NaN breaks every bound. */
export const judge = (
  { task }: Pick<TestContext, 'task'>,
  what: string,
  value: number,
  bound: Bound,
): void => {
  const holds = isWithin(value, bound);
  const isJudged = bound.isJudged ?? true;
  const verdict = holds ? 'held' : 'BROKEN';
  const one = {
    what,
    figure: shown(value, bound.unit),
    bound: shownBound(bound),
    verdict: isJudged ? verdict : 'not judged',
  } as const;
  task.meta.figures = [...(task.meta.figures ?? []), one];
  if (isJudged) expect.soft(holds, `${what}: figure ${one.figure}, bound ${one.bound}`).toBe(true);
};
