import { expect, test } from 'vitest';
import { openPool } from '#platform/postgres/pool.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { createTestDatabase } from '../stack/database.ts';

/** The table of an older release, with a checkpoint for each projection, and a view on it. */
const OLDER_TABLES = `
  create schema projector;
  create table projector.projection (
    name text primary key, version int not null, position bigint not null, state text not null,
    facts_applied bigint not null default 0, last_error text,
    started_at timestamptz not null default now(), updated_at timestamptz not null default now(),
    prefixes text[] not null default '{}', fingerprint text, owner text, is_paused boolean not null default false,
    pause_at bigint, wanted_version int, standing_since timestamptz);
  create view projector.lag as select name, position from projector.projection;
  insert into projector.projection (name, version, position, state, facts_applied, owner, is_paused) values
    ('ads', 3, 500, 'live', 70, 'host:1', false), ('radar', 2, 500, 'live', 50, 'host:1', false),
    ('brands', 1, 420, 'building', 40, null, true)`;

test('checkpoints of an older release become the cursor of all and rows of those behind it', async () => {
  await using resources = new AsyncDisposableStack();
  const own = await createTestDatabase();
  resources.defer(() => own.drop());
  const database = openPool(own.url, 2);
  resources.defer(() => database.end());
  await database.query(OLDER_TABLES);
  for (let start = 0; start < 2; start += 1) {
    await createProjectorTables(database);
    const positions = await database.query(
      'select name, position::int, facts_applied::int as facts, is_paused from projector.projection order by name',
    );
    expect(positions.rows).toEqual([
      { name: 'ads', position: 500, facts: 70, is_paused: false },
      { name: 'brands', position: 420, facts: 40, is_paused: true },
      { name: 'radar', position: 500, facts: 50, is_paused: false },
    ]);
    const behind = await database.query('select projection, position::int, state from projector.behind');
    expect(behind.rows).toEqual([{ projection: 'brands', position: 420, state: 'catching_up' }]);
    const progress = await database.query(`select kind, part, position::int from run.progress`);
    expect(progress.rows).toEqual([{ kind: 'projections', part: 'all', position: 500 }]);
  }
  // A projector of that release writes checkpoints, and must not any more.
  await expect(
    database.query(`update projector.projection set position = 600 where name = 'ads'`),
  ).rejects.toThrow(/cannot update column "position"/);
});
