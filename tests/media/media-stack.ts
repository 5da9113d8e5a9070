import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { type ArchiveMode, createArchiveTables } from '#application/media-archive/archive-tables.ts';
import { wantMedia } from '#application/media-archive/want-media.ts';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { BLANK_AD } from '#contracts/observations/ad-library-scan.ts';
import { CreativeFile } from '#contracts/observations/creative.ts';
import { createSemaphore } from '#platform/concurrency/queues.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';
import { openFolderStore } from '#platform/object-store/open-object-store.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { type ArchiveOptions, runArchive } from '#services/media/archive.ts';
import { openSpoolFolder } from '#services/media/archive-file.ts';
import { NOT_MEASURED } from '#services/media/measure.ts';
import { createTestDatabase, createTestNats } from '#tests/stack/database.ts';
import { parsedObservations } from '#tests/dsl/queued-observations.ts';

export const NOW = new Date('2026-05-01T08:00:00Z');
const WAIT_MS = 120_000;
const LOOK_MS = 25;

/** Returns the address of a file on the played server, with its end in hex seconds. */
export const addressOf = (name: string, hours = 48, signature = 'a'): string => {
  const seconds = Math.floor(NOW.getTime() / 1_000) + hours * 3_600;
  return `https://${signature}.library.example/${name}?oh=${signature}&oe=${seconds.toString(16)}`;
};

export const picture = (seed: number, format: 'png' | 'jpeg' = 'png'): Promise<Buffer> => {
  const [width, height] = [400, 300];
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [u, v] = [x / width, y / height];
      const at = (y * width + x) * 3;
      pixels[at] = 128 + 90 * Math.sin(seed + (3 + (seed % 7)) * u * 5) * Math.cos((2 + (seed % 3)) * v * 4);
      pixels[at + 1] = 128 + 90 * Math.cos(seed * 2 + (1 + (seed % 5)) * v * 6 + u * 3);
      pixels[at + 2] = 255 * Math.abs(u - v);
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(format)
    .toBuffer();
};

/** Starts as an MP4 of our own does; no program can measure it. */
export const FILM = Buffer.concat([
  Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2'),
  Buffer.alloc(5_000, 'film'),
]);

export type Played = (response: ServerResponse) => void;
export const bytes =
  (body: Buffer, headers: Record<string, string | number> = {}): Played =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body);
export const status =
  (code: number, headers: Record<string, string> = {}): Played =>
  (response) =>
    response.writeHead(code, headers).end();

export type MediaStack = AsyncDisposable & {
  readonly database: Database;
  readonly nats: Nats;
  readonly objectStore: ObjectStore;
  /** Answers by path. A path without one is answered with 404. */
  readonly answers: Map<string, Played>;
  readonly requested: string[];
  /** Emptying the stack takes a tenth of the time of opening another. */
  reset(): Promise<void>;
  nowMs: number;
  options(more?: Partial<ArchiveOptions>): ArchiveOptions;
  start(more?: Partial<ArchiveOptions>): AsyncDisposable;
  want(
    ads: Readonly<
      Record<string, readonly (readonly [url: string, kind?: 'image' | 'video', poster?: string])[]>
    >,
    options?: { readonly mode?: ArchiveMode; readonly seenAt?: Date; readonly isActive?: boolean },
  ): Promise<void>;
  /** Returns states and reasons by the start of the path of the newest address. */
  states(): Promise<Readonly<Record<string, string>>>;
  /** Waits until no file is wanted and nothing is left to publish. */
  settled(): Promise<void>;
  observations(): Promise<readonly CreativeFile[]>;
};

export const until = async (what: string, look: () => Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + WAIT_MS;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${WAIT_MS} ms.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};

const openPlayedServer = async (answers: ReadonlyMap<string, Played>, requested: string[]) => {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://played').pathname.slice(1);
    requested.push(path);
    (answers.get(path) ?? status(404))(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export const openMediaStack = async (): Promise<MediaStack> => {
  const resources = new AsyncDisposableStack();
  const created = await createTestDatabase();
  resources.defer(() => created.drop());
  const server = await createTestNats();
  resources.defer(() => server.stop());
  const nats = resources.use(await openNats(server.url, 'test'));
  const database = openPool(created.url, 12);
  resources.defer(() => database.end());
  const folder = await mkdtemp(join(tmpdir(), 'test-media-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const objectStore = openFolderStore(folder);
  const answers = new Map<string, Played>();
  const requested: string[] = [];
  const played = resources.use(await openPlayedServer(answers, requested));
  const egress = resources.use(openEgress({ allowLoopback: true }));
  await createArchiveTables(database);
  await openSpoolFolder(Date.now());

  let startedMs = performance.now();
  // Time passes, so that a file is tried again after a server did not answer in time.
  const clock = { now: () => new Date(stack.nowMs + performance.now() - startedMs) };
  const stack: MediaStack = {
    database,
    nats,
    objectStore,
    answers,
    requested,
    reset: async () => {
      answers.clear();
      requested.length = 0;
      await database.query('drop schema media cascade');
      await createArchiveTables(database);
      // A stream remembers the ids of its messages for minutes, also when it is purged.
      await nats.manager.streams.delete(OBSERVATIONS_STREAM);
      await ensureStreams(nats);
      for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
      startedMs = performance.now();
      stack.nowMs = NOW.getTime();
    },
    nowMs: NOW.getTime(),
    options: (more = {}) => ({
      database,
      nats,
      objectStore,
      downloader: { egress, via: played.origin, userAgent: 'test' },
      videoTools: { measure: async () => NOT_MEASURED, extractStill: async () => false },
      decoding: createSemaphore(1),
      mode: 'all',
      quotaBytes: 1e9,
      keepDays: null,
      clock,
      leaseClock: clock,
      log: silentLog(),
      signal: new AbortController().signal,
      pollMs: 40,
      ...more,
    }),
    start: (more = {}) => {
      const stopping = new AbortController();
      const running = runArchive({ ...stack.options(more), signal: stopping.signal });
      return {
        [Symbol.asyncDispose]: async () => {
          stopping.abort();
          await running;
        },
      };
    },
    want: (ads, { mode = 'all', seenAt = NOW, isActive = true } = {}) =>
      wantMedia(database, mode, {
        ads: Object.entries(ads).map(([ad_id, media]) => ({
          ...BLANK_AD,
          ad_id,
          is_active: isActive,
          media: media.map(([url, kind = 'image', poster = null]) => ({ kind, url, poster_url: poster })),
        })),
        seenAt,
        now: new Date(stack.nowMs),
      }),
    states: async () => {
      const { rows } = await database.query<{ name: string; state: string; reason: string | null }>(
        `select substring(url from 'example/([^.?]+)') as name, state, reason from media.wanted order by 1`,
      );
      return Object.fromEntries(
        rows.map(({ name, state, reason }) => [name, reason === null ? state : `${state}: ${reason}`]),
      );
    },
    settled: () =>
      until('the end of all files', async () => {
        const { rows } = await database.query(
          `select from media.wanted where state = 'wanted' or (state = 'stored' and unsent) limit 1`,
        );
        return rows.length === 0;
      }),
    observations: parsedObservations(nats, (json) => CreativeFile.parse(json)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
  return stack;
};
