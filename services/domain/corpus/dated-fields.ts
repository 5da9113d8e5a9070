/** The newest value of a field counts in any order of arrival, else the one that sorts last (rules 4, 11). */
export type FieldTimes = Readonly<Record<string, string>>;

/** A field without a time may have a default that nothing has stated. */
type DatedFields<Fields> = { readonly values: Partial<Fields>; readonly times: FieldTimes };

/** `confirmed`: stated again with a newer time. Absent when no field had a time before. */
type Comparison<Fields> = {
  readonly changes: Partial<Fields>;
  readonly confirmed?: readonly (keyof Fields & string)[];
};

const sortText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Leaves out fields with a newer recorded time. `firstCounts`: at equal times the value that sorts first counts. */
export const compareFields = <Fields extends object>(
  { values, times }: DatedFields<Fields>,
  stated: Partial<Fields>,
  observedAt: string,
  firstCounts: readonly (keyof Fields & string)[] = [],
): Comparison<Fields> => {
  const isFirstCounted = (field: string): boolean => (firstCounts as readonly string[]).includes(field);
  const recorded = values as Readonly<Record<string, unknown>>;
  const changes: Record<string, unknown> = {};
  const confirmed: string[] = [];
  for (const [field, value] of Object.entries(stated)) {
    const time = times[field];
    if (time !== undefined && observedAt < time) continue;
    const before = recorded[field] ?? null;
    if (JSON.stringify(value) === JSON.stringify(before)) {
      if (time !== observedAt) confirmed.push(field);
      continue;
    }
    const sortsLast = sortText(value) > sortText(before);
    if (time !== observedAt || sortsLast !== isFirstCounted(field)) changes[field] = value;
  }
  const isFirst = confirmed.length === 0 && Object.keys(times).length === 0;
  return { changes, ...(isFirst ? {} : { confirmed }) } as unknown as Comparison<Fields>;
};

export const isNews = ({
  changes,
  confirmed = [],
}: {
  readonly changes: object;
  readonly confirmed?: readonly string[];
}): boolean => Object.keys(changes).length + confirmed.length > 0;

export const withTimes = (
  times: FieldTimes,
  observedAt: string,
  changed: readonly string[],
  confirmed: readonly string[] = [],
): FieldTimes => {
  const after: Record<string, string> = { ...times };
  for (const field of [...changed, ...confirmed]) {
    const before = after[field];
    if (before === undefined || before < observedAt) after[field] = observedAt;
  }
  return after;
};

/** `null` is none. */
export const earlierOf = (one: string | null, other: string): string =>
  one === null || other < one ? other : one;

/** Without blanks. */
type Stated<Fields> = { readonly [Field in keyof Fields]?: NonNullable<Fields[Field]> };

export const withoutBlanks = <Fields extends object>(fields: Fields): Stated<Fields> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Stated<Fields>;
