import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createDeliveryTables } from '#application/delivery-outbox/schema/create-tables.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { createTestDatabase } from '../stack/database.ts';

/** First version of the tables, with the columns that this test fills. */
const BEFORE = `
  create schema delivery;
  create table delivery.delivery (
    delivery_id uuid primary key, workspace_id text not null, alert_id uuid not null, channel text not null,
    kind text not null, endpoint text not null, status text not null, attempts integer not null default 0,
    attempts_before integer not null default 0, queued_at timestamptz not null, next_attempt_at timestamptz,
    taken_by text, taken_until timestamptz, finished_at timestamptz);
  create table delivery.content (
    delivery_id uuid primary key references delivery.delivery on delete cascade,
    target text not null, payload text not null);
  create table delivery.journal (
    seq bigint generated always as identity primary key, delivery_id uuid not null, workspace_id text not null,
    alert_id uuid not null, type text not null, at timestamptz not null, attempt integer, outcome text, failure text,
    status_code integer, reason text, duration_ms integer, next_attempt_at timestamptz, dns_ms real, connect_ms real,
    tls_ms real, wait_ms real, answer bytea);
  create table delivery.recorded (single_row boolean primary key default true, seq bigint not null);
  create table delivery.stream (alert_id uuid primary key, revision bigint not null);
  create table delivery.failing (
    alert_id uuid not null, channel text not null, workspace_id text not null, since timestamptz not null,
    last_at timestamptz not null, suspended_at timestamptz, primary key (alert_id, channel));
  create table delivery.pace (endpoint text primary key, next_at timestamptz not null);`;

test('migrates tables of the first version with their rows', async () => {
  const database = await createTestDatabase();
  const pool = openPool(database.url, 1);
  const [alert, waiting, retrying, over, cancelled] = Array.from({ length: 5 }, () => randomUUID());
  const at = new Date('2026-05-02T08:00:00.000Z');
  const states = [
    [waiting, 'queued', 0, at, null],
    [retrying, 'retrying', 1, at, null],
    [over, 'delivered', 2, null, at],
    [cancelled, 'cancelled', 1, null, at],
  ] as const;
  const entries = [
    ...[waiting, retrying, over, cancelled].map((id) => [id, 'DeliveryQueued', null, null] as const),
    [retrying, 'DeliveryAttempted', 1, 'retrying'],
    [over, 'DeliveryAttempted', 1, 'retrying'],
    [over, 'DeliveryAttempted', 2, 'delivered'],
    [cancelled, 'DeliveryAttempted', 1, 'retrying'],
    [cancelled, 'DeliveryCancelled', null, null],
  ] as const;
  try {
    await pool.query(BEFORE);
    for (const [id, status, attempts, next, finished] of states) {
      await pool.query(
        `insert into delivery.delivery (delivery_id, workspace_id, alert_id, channel, kind, endpoint, status, attempts,
           queued_at, next_attempt_at, finished_at)
         values ($1, 'ws_before', $2, 'webhook', 'alert', 'webhook:a', $3, $4, $5, $6, $7)`,
        [id, alert, status, attempts, at, next, finished],
      );
      await pool.query(`insert into delivery.content values ($1, '{"channel":"webhook"}', '{"a":1}')`, [id]);
    }
    for (const [id, type, attempt, outcome] of entries) {
      await pool.query(
        `insert into delivery.journal (delivery_id, workspace_id, alert_id, type, at, attempt, outcome)
         values ($1, 'ws_before', $2, $3, $4, $5, $6)`,
        [id, alert, type, at, attempt, outcome],
      );
    }
    await pool.query('insert into delivery.recorded (seq) values (7)');
    await createDeliveryTables(pool);
    await createDeliveryTables(pool);
    const { rows } = await pool.query(
      'select delivery_id, status, attempts, next_attempt_at, finished_at from delivery.overview',
    );
    const expected = states.map(([delivery_id, status, attempts, next_attempt_at, finished_at]) => ({
      delivery_id,
      status,
      attempts,
      next_attempt_at,
      finished_at,
    }));
    expect(rows).toHaveLength(expected.length);
    expect(rows).toEqual(expect.arrayContaining(expected));
    const journal = await pool.query('select seq::int, type from delivery.journal order by seq');
    expect(journal.rows).toEqual(entries.map(([, type], n) => ({ seq: n + 1, type })));
    const next = await pool.query(
      `insert into delivery.journal (delivery_id, type, at, attempt) values ($1, 'DeliveryReplayed', $2, 2)
       returning seq::int, (select seq::int from delivery.recorded) as recorded`,
      [over, at],
    );
    expect(next.rows[0].seq).toBeGreaterThan(entries.length);
    expect(next.rows[0].recorded).toBe(7);
  } finally {
    await pool.end();
    await database.drop();
  }
});
