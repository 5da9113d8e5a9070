type Given<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** Without the properties that were not given: a filter that is absent is absent, not `undefined`. */
export const given = <T extends object>(filters: T): Given<T> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as Given<T>;
