import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';

/** Statement that reads the position of each live read model. No table yet: no projector has run on this database. */
export const POSITIONS: ReadQuery = {
  sql: 'select name, position from projector.projection where position is not null',
  values: [],
};
/** A row of `POSITIONS`. */
export type PositionRow = { readonly name: string; readonly position: string };

/** Positions of the log by read model. */
export type Positions = ReadonlyMap<string, bigint>;

export const toPositions = (rows: readonly PositionRow[]): Map<string, bigint> =>
  new Map(rows.map(({ name, position }) => [name, BigInt(position)]));

/** True when all these read models have passed a position of the log. */
export const havePassed = (known: Positions, readModels: readonly string[], position: bigint): boolean =>
  readModels.every((name) => (known.get(name) ?? -1n) >= position);

/** The same, in this database. */
export const hasPassed = async (
  db: ReadDatabase,
  readModels: readonly string[],
  position: bigint,
): Promise<boolean> => havePassed(toPositions(await db.query<PositionRow>(POSITIONS)), readModels, position);
