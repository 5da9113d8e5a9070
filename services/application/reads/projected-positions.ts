import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';

/** Statement that reads the position of each live read model. No table yet: no projector has run on this database. */
const POSITIONS: ReadQuery = {
  sql: 'select name, position from projector.projection where position is not null',
  values: [],
};

/** True when all these read models have passed a position of the log in this database. */
export const hasPassed = async (
  db: ReadDatabase,
  readModels: readonly string[],
  position: bigint,
): Promise<boolean> => {
  const rows = await db.query<{ name: string; position: string }>(POSITIONS);
  const known = new Map(rows.map((row) => [row.name, BigInt(row.position)]));
  return readModels.every((name) => (known.get(name) ?? -1n) >= position);
};
