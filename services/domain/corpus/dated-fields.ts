/**
 * Fields of a record, each with the time of its newest observation (rules 4 and 11). For each field the newest value
 * counts, in any order of arrival. Of two values of the same time, the one that sorts last counts.
 */

/** Time of the newest observation of each field. A field that nothing has stated is absent. */
export type FieldTimes = Readonly<Record<string, string>>;

/** Fields as recorded so far. A field without a time may have a value that nothing has stated, such as a default. */
type DatedFields<Fields> = {
  readonly values: Partial<Fields>;
  readonly times: FieldTimes;
};

/**
 * The fields that an observation changes, and those that it confirms: stated again, with a newer time. `confirmed` is
 * absent when no field had a time before.
 */
type Comparison<Fields> = {
  readonly changes: Partial<Fields>;
  readonly confirmed?: readonly (keyof Fields & string)[];
};

/** Returns the text by which values of the same time are ordered. */
const sortText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Compares the stated fields of an observation with the recorded ones. `stated` has no blanks. Fields that are
 * recorded with a newer time are in neither part of the result. `firstCounts`: fields of which, of two values of the
 * same time, the one that sorts first counts.
 */
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

/** True when the comparison found something to record. */
export const isNews = ({
  changes,
  confirmed = [],
}: {
  readonly changes: object;
  readonly confirmed?: readonly string[];
}): boolean => Object.keys(changes).length + confirmed.length > 0;

/**
 * Returns the times after an event that changed and confirmed fields. Events of earlier releases have no `confirmed`;
 * their observations are taken to have confirmed every field.
 */
export const withTimes = (
  times: FieldTimes,
  observedAt: string,
  changed: readonly string[],
  confirmed: readonly string[] | undefined,
): FieldTimes => {
  const after: Record<string, string> = { ...times };
  for (const field of [...changed, ...(confirmed ?? Object.keys(times))]) {
    const before = after[field];
    if (before === undefined || before < observedAt) after[field] = observedAt;
  }
  return after;
};

/** Returns the earlier of two times in UTC; `null` is none. */
export const earlierOf = (one: string | null, other: string): string =>
  one === null || other < one ? other : one;

/** Fields of an observation, of which the blanks are left out. */
type Stated<Fields> = { readonly [Field in keyof Fields]?: NonNullable<Fields[Field]> };

/** Returns the fields of an observation without its blanks. */
export const withoutBlanks = <Fields extends object>(fields: Fields): Stated<Fields> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Stated<Fields>;
