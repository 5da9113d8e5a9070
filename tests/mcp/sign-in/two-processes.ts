import { expect, vi } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import type { ServiceProcess } from '../../stack/processes.ts';
import { openFront } from './front.ts';
import { openWalk, type Walk } from './walk.ts';

/** First of the advisory locks on which writes of a sign-in wait while a test holds them. */
const LOCK = 7_205_900;
const WAIT_MS = 60_000;

/** Writes at which a process can be killed: the trigger that waits for a lock. */
const WRITES = {
  code: 'insert on sign_in.code for each row',
  browser: 'insert on sign_in.browser for each row',
  signOut: 'delete on sign_in.browser for each row',
  upstream: 'insert on sign_in.upstream for each row',
  request: "insert on oauth.record for each row when (new.kind = 'Interaction')",
  grant: "insert on oauth.record for each row when (new.kind = 'Grant')",
} as const;
export type Write = keyof typeof WRITES;
const lockOf = (write: Write): number => LOCK + Object.keys(WRITES).indexOf(write);

export type Started = { readonly port: number; readonly process: ServiceProcess };

/** Two processes behind one address. One serves; the other takes over when it is killed. */
export type TwoProcesses = AsyncDisposable & {
  readonly walk: Walk;
  /** Returns the process that serves, and the other one. */
  both(): Promise<readonly [Started, Started]>;
  /** Leads the address to a process. */
  lead(to: Started): void;
  /** Kills the serving process with SIGKILL, and lets the other one take over. */
  kill(): Promise<void>;
  /** Kills the serving process in the middle of a step, before this write is committed. */
  killDuring(write: Write, step: () => Promise<unknown>): Promise<void>;
};

/** `settings`: environment of the processes in addition to the usual one. */
export const openTwoProcesses = async (settings: Readonly<Record<string, string>>): Promise<TwoProcesses> => {
  const resources = new AsyncDisposableStack();
  const walk = resources.use(await openWalk(settings));
  const { pool } = walk.stack;
  const front = resources.use(await openFront(Number(new URL(walk.baseUrl).port)));
  const start = async (port: number): Promise<Started> => ({ port, process: await walk.start(port) });
  const ports = [await freePort(), await freePort()] as const;
  const first = start(ports[0]);
  let spare = start(ports[1]);
  let [serving] = await Promise.all([first, spare, walk.stack.seed(['alpha'])]);
  resources.defer(async () => void (await spare.catch(() => undefined)));
  front.lead(serving.port);
  await pool.query(`create function sign_in.wait_for_tests() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock_shared(tg_argv[0]::int);
    return coalesce(new, old);
  end $$`);
  for (const [write, on] of Object.entries(WRITES)) {
    await pool.query(
      `create trigger wait_for_${write} before ${on} execute function sign_in.wait_for_tests(${lockOf(write as Write)})`,
    );
  }

  const untilWaiting = (write: Write, count: number) =>
    vi.waitFor(
      async () => {
        const { rows } = await pool.query<{ waiting: number }>(
          "select count(*)::int as waiting from pg_locks where locktype = 'advisory' and objid = $1 and not granted",
          [lockOf(write)],
        );
        expect(rows[0]?.waiting).toBe(count);
      },
      { timeout: WAIT_MS },
    );
  /** After it, nothing is served until `takeOver`. */
  const end = async (): Promise<void> => {
    front.lead(null);
    await serving.process.kill();
  };
  const takeOver = async (): Promise<void> => {
    const { port } = serving;
    serving = await spare;
    front.lead(serving.port);
    spare = start(port);
  };
  return {
    walk,
    both: async () => [serving, await spare],
    lead: ({ port }) => front.lead(port),
    kill: async () => {
      await end();
      await takeOver();
    },
    killDuring: async (write, step) => {
      const lock = await pool.connect();
      await lock.query('select pg_advisory_lock($1)', [lockOf(write)]);
      const ended = step().catch(() => undefined);
      await untilWaiting(write, 1);
      await end();
      await lock.query('select pg_advisory_unlock($1)', [lockOf(write)]);
      lock.release();
      await untilWaiting(write, 0);
      await ended;
      await takeOver();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
