import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Credentials } from '#deploy/local/event-store/calls/authenticate.ts';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { openRawLog, type RawEvent, type RawLog } from '#platform/event-store/copy/raw-log.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { compareLogs, copyLog, serverSource } from '#services/ops/log/transfer.ts';
import { portable } from '#platform/event-store/copy/first-recorded.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

export type Stores = AsyncDisposable & {
  start(credentials?: Credentials): Promise<string>;
  empty(): Promise<RawLog>;
  open(url: string): RawLog;
  folder(): Promise<string>;
};

export const createStores = (): Stores => {
  const resources = new AsyncDisposableStack();
  const start = async (credentials?: Credentials): Promise<string> => {
    const database = await createTestDatabase();
    resources.defer(() => database.drop());
    const options = { databaseUrl: database.url, host: '127.0.0.1', port: 0 };
    const store = await startEventStore(credentials ? { ...options, credentials } : options);
    resources.defer(() => store.stop());
    return store.url;
  };
  const open = (url: string): RawLog => openRawLog(url);
  return {
    start,
    open,
    empty: async () => open(await start()),
    folder: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'log-'));
      resources.defer(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

export const STREAMS = 12;
const METADATA = {
  $correlationId: 'c',
  $causationId: 'c',
  request_id: 'r',
  actor: { kind: 'service', id: 'tests' },
  workspace_id: 'w',
} as const;

/** `each`: events of one append; `null`: one to five. */
export const fill = async (url: string, rounds: number, each: number | null = null): Promise<void> => {
  await using store = openEventStore(url);
  const revisions = new Map<string, bigint>();
  for (let round = 0; round < rounds; round += 1) {
    const stream = `trial-w+${round % STREAMS}`;
    const expected = revisions.get(stream) ?? (await store.last(stream))?.revision ?? -1n;
    const events = Array.from({ length: each ?? 1 + (round % 5) }, (_, index) => ({
      type: 'Tried',
      data: { round, index, text: 'ä漢🙂 "quoted" \u2028\u2029\u0000', number: 1e21 },
    }));
    const written = await store.append(stream, expected, events, METADATA, () => randomUUID());
    revisions.set(stream, written.revision);
  }
};

export const untilEnd = (): AbortSignal => new AbortController().signal;

export const copy = (from: RawLog, to: RawLog): Promise<number> =>
  copyLog(serverSource(from), to, () => undefined, untilEnd());

export const compare = (from: RawLog, to: RawLog) =>
  compareLogs(from.forwards(null), to.forwards(null), { isByStream: true });

export const eventsOf = async (log: RawLog): Promise<readonly RawEvent[]> => {
  const events: RawEvent[] = [];
  for await (const event of log.forwards(null)) events.push(event);
  return events;
};

/** Bytes are text here, because a deep comparison of buffers takes seconds. */
export const contentOf = (event: RawEvent): readonly string[] => {
  const { stream, revision, id, type, contentType, data, metadata } = portable(event);
  const texts = [data, metadata].map((bytes) => Buffer.from(bytes).toString('base64'));
  return [stream, String(revision), id, type, contentType, ...texts];
};

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export const startLogCommand = (
  settings: Readonly<Record<string, string>>,
  ...words: readonly string[]
): { kill(): void; readonly ended: Promise<Ended> } => {
  const ended = Promise.withResolvers<Ended>();
  const env = { ...inheritedEnvironment(), ...settings };
  const child = execFile(
    process.execPath,
    ['services/ops/cli.ts', '--json', 'log', ...words],
    { env },
    (_error, stdout, stderr) => ended.resolve({ code: child.exitCode, stdout, stderr }),
  );
  return { kill: () => void child.kill('SIGKILL'), ended: ended.promise };
};
