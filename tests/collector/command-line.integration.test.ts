import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createArchiveTables } from '#application/media-archive/archive-tables.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { type HostedCommands, openHostedCommands } from '#tests/ops/fixtures/hosted-commands.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HOUR = "interval '1 hour'";

let database: Database;
let url: string;
let drop: () => Promise<unknown>;
let commands: HostedCommands;
beforeAll(async () => {
  commands = openHostedCommands({ program: 'collect' });
  const created = await createTestDatabase();
  drop = () => created.drop();
  url = created.url;
  database = openPool(url, 2);
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await database.end();
  await drop();
});

type Ended = { readonly code: number; readonly out: string; readonly error: string };

const environmentOf = () => ({ DATABASE_URL: url, DATA_DIR: '/nonexistent' });

const collect = async (...args: readonly string[]): Promise<Ended> => {
  const { code, stdout, stderr } = await commands.run(args, environmentOf());
  return { code, out: stdout, error: stderr };
};

const collectAlone = (...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['services/collector/cli.ts', ...args],
      { cwd: ROOT, env: { ...inheritedEnvironment(), ...environmentOf() } },
      (_error, out, error) => resolve({ code: child.exitCode ?? -1, out, error }),
    );
  });

const json = async (...args: readonly string[]): Promise<unknown> => {
  const { code, out, error } = await collect('--json', ...args);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  return JSON.parse(out) as unknown;
};

const target = async (domain: string): Promise<Record<string, unknown> | undefined> => {
  const { rows } = await database.query<Record<string, unknown>>(
    'select paused, retry_at, due_at <= now() as is_due from collecting.target where domain = $1',
    [domain],
  );
  return rows[0];
};

test('an empty database has no targets, and the first command creates the tables', async () => {
  const { code, out } = await collectAlone('--json', 'status');
  expect({ code, out: JSON.parse(out) as unknown }).toEqual({
    code: 0,
    out: { sources: [], plans: [], accounts: [], media: null },
  });
  expect(await json('plan')).toEqual([]);
  expect(await collect('status')).toMatchObject({ code: 0, error: 'none\n' });
});

describe('with three targets', () => {
  beforeEach(async () => {
    await database.query('truncate collecting.target');
    await database.query(
      `insert into collecting.target (source, domain, cadence, wished_at, due_at, retry_at, outcome, detail) values
         ('storefront', 'fine.example', 'daily', now(), now() + ${HOUR}, null, 'complete', '3 products of 3, 0 refused'),
         ('storefront', 'late.example', 'daily', now(), now() - 20 * ${HOUR}, now() + ${HOUR}, 'wait', 'answered 500'),
         ('storefront', 'rests.example', 'weekly', now(), now() + 30 * ${HOUR}, null, 'refused', 'answered 403')`,
    );
  });

  test('`status` counts them, lists one state, and shows one domain', async () => {
    const counts = { due: 0, in_flight: 0, overdue: 1, refused: 1, shut: 0, paused: 0 };
    expect(await json('status')).toMatchObject({
      sources: [{ source: 'storefront', targets: 3, ...counts }],
      plans: [{ source: 'storefront', targets: 3, calls_a_round: 15 }],
      accounts: [],
    });
    expect(await json('status', '--state', 'refused')).toMatchObject([{ domain: 'rests.example' }]);
    expect(await json('status', 'late.example')).toMatchObject([
      { states: ['overdue'], outcome: 'wait', detail: 'answered 500', paused: null },
    ]);
    const { out } = await collect('status');
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['source', 'targets', 'due', 'in_flight', 'overdue', 'refused', 'shut', 'paused'],
      ['storefront', '3', '0', '0', '1', '1', '0', '0'],
      [''],
      ['forecast of a round'],
      ['source', 'targets', 'calls_a_round', 'days_a_round', 'load', 'looks_a_day', 'late', 'late_targets'],
      ['storefront', '3', '15', '0', '0', '0', '0'],
      [''],
    ]);
  });

  test('`status` shows the account of the library API, and how long its token lasts', async () => {
    await database.query(
      `insert into collecting.account (name, token_fingerprint, set_at, expires_at, access, percent, used_at) values
         ('default', 'fingerprint', now(), now() + 5 * interval '1 day' + ${HOUR}, '{"kind":"open"}', 37, now())`,
    );
    const account = {
      account: 'default',
      state: 'open',
      shut_until: null,
      usage_percent: 37,
      token_days_left: 5,
    };
    expect(await json('status')).toMatchObject({ accounts: [account] });
    const { out } = await collect('status');
    await database.query('truncate collecting.account');
    expect(out).toMatch(/^account of the official library API$/m);
    expect(out).toMatch(/^usage_percent +37$/m);
    expect(out).toMatch(/^token_days_left +5$/m);
    expect(out).toMatch(/^warning +The token ends in 5 days\./m);
    expect(out).not.toContain('fingerprint');
  });

  test('`status` shows the files of the media archive, and how many addresses end within 12 hours', async () => {
    await createArchiveTables(database);
    await database.query(
      `insert into media.wanted (file_key, kind, url, expires_at, try_until, seen_at) values
         ('a', 'image', 'https://library.example/a.jpg', now() + ${HOUR}, now() + ${HOUR}, now()),
         ('b', 'image', 'https://library.example/b.jpg', now() + 20 * ${HOUR}, now() + 20 * ${HOUR}, now())`,
    );
    const media = { wanted: 2, expiring: 1, stored: 0, missed: 0, refused: 0, bytes: 0, room: 'all' };
    expect(await json('status')).toMatchObject({ media });
    const { out } = await collect('status');
    expect(out).toMatch(/^media archive\n[^]*^wanted +2\nexpiring +1\nstored +0$/m);
    await database.query('drop schema media cascade');
  });

  test('`pause` and `resume` change what the next claim sees', async () => {
    expect(await json('pause', 'fine.example', '--reason', 'asked by the shop')).toMatchObject([
      { domain: 'fine.example', states: ['paused'], paused: 'asked by the shop' },
    ]);
    expect(await target('fine.example')).toMatchObject({ paused: 'asked by the shop' });
    expect(await target('late.example')).toMatchObject({ paused: null });
    expect(await json('resume', 'fine.example')).toMatchObject([{ states: [], paused: null }]);
    expect(await target('fine.example')).toMatchObject({ paused: null });
  });

  test('`retry` makes a target due now, and does not delay one that is overdue', async () => {
    expect(await json('retry', 'late.example')).toMatchObject([
      { states: ['due', 'overdue'], retry_at: null },
    ]);
    expect(await json('retry', 'fine.example', '--source', 'storefront')).toMatchObject([
      { states: ['due'] },
    ]);
    expect(await target('fine.example')).toMatchObject({ is_due: true });
    expect(await target('rests.example')).toMatchObject({ is_due: false });
  });

  test('an unknown domain, state or source is refused with one sentence', async () => {
    for (const command of ['status', 'pause', 'resume', 'retry']) {
      const { code, out, error } = await collect(command, 'none.example');
      expect({ command, code, out }).toEqual({ command, code: 1, out: '' });
      expect(error).toMatch(/^The collector has no target none\.example\. .+\n$/);
    }
    expect((await collect('status', '--state', 'lost')).error).toContain('Allowed choices are due,');
    expect((await collect('retry', 'fine.example', '--source', 'lost')).error).toContain('Allowed choices');
  });

  test('`plan` forecasts a round, and names the target that will be late', async () => {
    await database.query("update collecting.target set retry_at = null where domain = 'late.example'");
    await database.query(
      `insert into collecting.target (source, domain, cadence, wished_at, due_at) values
         ('site', 'fine.example', 'daily', now(), now() + ${HOUR}),
         ('site', 'slow.example', 'weekly', now(), now() - 40 * ${HOUR})`,
    );
    expect(await json('plan')).toEqual([
      {
        source: 'storefront',
        targets: 3,
        calls_an_hour: 11_520,
        calls_a_round: 15,
        days_a_round: 0,
        load: 0,
        looks_a_day: 0,
        late: 1,
        late_targets: ['late.example'],
      },
      {
        source: 'site',
        targets: 2,
        calls_an_hour: 11_520,
        calls_a_round: 12,
        days_a_round: 0,
        load: 0,
        looks_a_day: 0,
        late: 1,
        late_targets: ['slow.example'],
      },
    ]);
  });
});

test('`plan` shows what so many pages cost at the library API, and what more apps change', async () => {
  const plan = async (apps: string) =>
    (await json('plan', '--pages', '20000', '--ads', '100', '--apps', apps)) as readonly object[];
  expect(await plan('1')).toMatchObject([
    {
      source: 'ads_archive, supposed weekly',
      calls_a_round: 13_000,
      days_a_round: 3.611,
      looks_a_day: 0,
      late: 0,
    },
    { source: 'ads_archive, supposed daily', load: 3.611, looks_a_day: 2_000 },
  ]);
  expect(await plan('4')).toMatchObject([{ late: 0 }, { load: 0.903, looks_a_day: 0, late: 0 }]);
  expect((await collect('plan', '--pages', '0')).error).toContain('Give a whole number from 1 to 200000.');
});
