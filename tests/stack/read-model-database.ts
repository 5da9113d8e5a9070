import { inject } from 'vitest';
import { inTransaction, openPool } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { createProjectorTables, openLiveTarget } from '#services/projector/apply/checkpoints.ts';
import { createTestDatabase, type TestDatabase, urlOf } from './database.ts';

/** Template with the tables of all read models, without rows, as a projector creates them at its first start. */
const TEMPLATE = 'template_read_models';
/** Advisory lock of the maintenance database: one worker creates the template, others wait. */
const TEMPLATE_LOCK = 4_220_001;

let template: Promise<void> | null = null;

const createTables = async (url: string): Promise<void> => {
  const database = openPool(url, 1);
  try {
    await createProjectorTables(database);
    for (const projection of projections) await openLiveTarget(database, projection);
  } finally {
    await database.end();
  }
};

/** Tables are created under another name, so that the template is never incomplete. */
const createTemplate = async (): Promise<void> => {
  const maintenance = openPool(inject('databaseUrl'), 2);
  try {
    await inTransaction(maintenance, async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [TEMPLATE_LOCK]);
      const { rows } = await client.query('select from pg_database where datname = $1', [TEMPLATE]);
      if (rows.length > 0) return;
      // A database is not created in a transaction, so another connection does it.
      const draft = `${TEMPLATE}_draft`;
      await maintenance.query(`drop database if exists ${draft} with (force)`);
      await maintenance.query(`create database ${draft}`);
      await createTables(urlOf(draft));
      await maintenance.query(`alter database ${draft} rename to ${TEMPLATE}`);
    });
  } finally {
    await maintenance.end();
  }
};

/** A copy takes a tenth of the time that a projector takes to create the tables. */
export const createReadModelDatabase = async (): Promise<TestDatabase> => {
  template ??= createTemplate();
  await template;
  return await createTestDatabase(TEMPLATE);
};
