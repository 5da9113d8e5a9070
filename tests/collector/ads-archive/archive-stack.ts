import { HOUR_MS } from '#contracts/values/time.ts';
import { ARCHIVE_COUNTRIES } from '#domain/collecting/archive-coverage.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { type ArchiveWorld, createArchiveWorld, type WorldAd } from '#tests/world/archive-world.ts';
import { type ArchiveCursor, createArchiveClient } from '#services/collector/ads-archive/archive-client.ts';
import { type AccountState, createPacedAccount } from '#services/collector/ads-archive/paced-account.ts';
import {
  type ArchiveOutcome,
  type ArchiveReading,
  readArchive,
} from '#services/collector/ads-archive/read-archive.ts';
import type { SpoolPage } from '#services/collector/schedule/target-store.ts';
import { openPlayedSites } from '#tests/platform/http-client/played-sites.ts';

export const TOKEN = 'EAAtesttokentesttokentesttoken';
export const APP_SECRET = 'app-secret-of-the-test';
export const START_MS = Date.parse('2026-05-10T08:00:00Z');

/** Ads of a page, newest first; `firstId` keeps the ids of two pages apart. */
export const worldAds = (pageId: string, count: number, firstId: number): WorldAd[] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(900_000_000_000_000 + firstId + index),
    pageId,
    pageName: `Page ${pageId}`,
    createdSeconds: 1_770_000_000 - Math.floor(index / 3),
    startedOn: '2026-04-01',
    stoppedOn: null,
    bodies: [`Body ${firstId + index}`, 'Another body'],
    titles: ['Title'],
    caption: 'shop.example',
    countries: ['DE', 'FR'],
  }));

/** Kept in memory, it survives a stopped reader, as the tables do. */
export const createTestBatch = () => {
  const pages: SpoolPage[] = [];
  const batch = {
    startedAt: new Date(START_MS),
    cursor: null as ArchiveCursor | null,
    stored: pages,
    committed: (): void => undefined,
    commit: async (cursor: ArchiveCursor, page: SpoolPage | null) => {
      if (page !== null && pages.some((one) => one.page === page.page))
        throw new Error('a page is stored twice');
      batch.cursor = JSON.parse(JSON.stringify(cursor)) as ArchiveCursor;
      if (page !== null) pages.push(page);
      batch.committed();
    },
    pages: async () => pages,
  };
  return batch;
};
export type TestBatch = ReturnType<typeof createTestBatch>;

export type ArchiveStack = AsyncDisposable & {
  readonly world: ArchiveWorld;
  nowMs: number;
  readonly saved: AccountState[];
  read(batch: TestBatch, changes?: Partial<ArchiveReading>): Promise<ArchiveOutcome>;
};

/** Opens a played library and an account that calls it over HTTP. Waits of the client move its clock. */
export const openArchiveStack = async (): Promise<ArchiveStack> => {
  const resources = new AsyncDisposableStack();
  const played = resources.use(await openPlayedSites());
  const egress = resources.use(openEgress({ allowLoopback: true }));
  const now = (): Date => new Date(stack.nowMs);
  const wait = async (ms: number): Promise<void> => {
    stack.nowMs += ms;
  };
  const world = createArchiveWorld(now);
  world.tokens.add(TOKEN);
  played.sites.set('graph.facebook.com', (path, { headers }) => {
    const answer = world.answer({ path, authorization: headers.authorization });
    return answer ?? ((response) => response.destroy());
  });
  const client = createArchiveClient({
    egress,
    via: played.origin,
    origin: 'https://graph.facebook.com',
    version: 'v24.0',
    userAgent: 'ad-intelligence/0.1.0 (+https://operator.example)',
    token: TOKEN,
    appSecret: APP_SECRET,
    reached: false,
  });
  const account = createPacedAccount({
    client,
    clock: { now },
    callsPerHour: 150,
    stored: { access: { kind: 'open' }, percent: null },
    save: async (state) => void stack.saved.push(state),
    wait,
  });
  const stack: ArchiveStack = {
    world,
    nowMs: START_MS,
    saved: [],
    read: (batch, changes) =>
      readArchive({
        batch,
        pageIds: ['10000001', '10000002'],
        countries: ARCHIVE_COUNTRIES,
        adsBefore: new Map(),
        stopsSince: null,
        account,
        endsMs: START_MS + 6 * HOUR_MS,
        now,
        wait,
        signal: new AbortController().signal,
        ...changes,
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
  return stack;
};
