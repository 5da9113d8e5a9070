import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';

/** Position of each live read model. The table is missing until a projector has run. */
export const POSITIONS: ReadQuery = {
  sql: 'select name, position from projector.projection where position is not null',
  values: [],
};
export type PositionRow = { readonly name: string; readonly position: string };

export type Positions = ReadonlyMap<string, bigint>;

export const toPositions = (rows: readonly PositionRow[]): Map<string, bigint> =>
  new Map(rows.map(({ name, position }) => [name, BigInt(position)]));

export const havePassed = (known: Positions, readModels: readonly string[], position: bigint): boolean =>
  readModels.every((name) => (known.get(name) ?? -1n) >= position);

export const hasPassed = async (
  db: ReadDatabase,
  readModels: readonly string[],
  position: bigint,
): Promise<boolean> => havePassed(toPositions(await db.query<PositionRow>(POSITIONS)), readModels, position);
