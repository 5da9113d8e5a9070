import type { Random } from '#deploy/local/demo/world/seeded-random.ts';
import { addArchiveFaults, clearArchiveFaults } from '#tests/world/archive-faults.ts';
import type { WorldFaultInput } from '#tests/world/world-faults.ts';
import { type PlayedBrand, TOKEN, type Weeks } from './played-weeks.ts';

type ArchiveInput = Parameters<typeof addArchiveFaults>[1];

/** Calls until the library serves ads where it takes 20 in an answer: four times the size is halved. */
const GOOD_BEFORE_FAULTS = 6;
/** More faults than there are tries in a day. */
const FAULTS_OF_A_DAY = 900;

/** One fault of the official library for each row of what the collector does about its answers. */
export const ARCHIVE_FAULTS: Readonly<Record<string, (pageId: string) => ArchiveInput>> = {
  none: () => ({}),
  'limit of the app': () => ({ next: [null, { kind: 'error', code: 4, regainMinutes: 20 }] }),
  'limit of the user': () => ({
    next: [
      { kind: 'error', code: 17 },
      { kind: 'error', code: 613 },
    ],
  }),
  'limit of the page': () => ({ next: [{ kind: 'error', code: 32, regainMinutes: 45 }] }),
  'blocked for a while': () => ({ next: [null, null, { kind: 'error', code: 368 }] }),
  'limit of the use case': () => ({ next: [{ kind: 'error', code: 80_004, regainMinutes: 61 }] }),
  'too much data': () => ({ ads_max: 20 }),
  'page forgotten all day': (pageId) => ({ forgotten: [pageId] }),
  'unknown errors': () => ({
    next: [{ kind: 'error', code: 1 }, null, { kind: 'error', code: 2 }, { kind: 'error', code: 2 }],
  }),
  'broken answers': () => ({
    next: [{ kind: 'html' }, { kind: 'cut' }, null, { kind: 'network' }, { kind: 'large' }],
  }),
  'five broken answers in a row': () => ({
    next: Array.from({ length: 5 }, () => ({ kind: 'html' as const })),
  }),
  'refused token': () => ({
    next: [null, { kind: 'error', code: 190, message: `Malformed access token ${TOKEN}` }],
  }),
  'missing permission': () => ({ next: [{ kind: 'error', code: 10, subcode: 2_332_002 }] }),
  'permission withdrawn': () => ({
    next: [
      { kind: 'error', code: 200, message: `No permission: /ads_archive?access_token=${TOKEN}&limit=1` },
    ],
  }),
  'refused page': (pageId) => ({ refused: [pageId] }),
  'forgotten page': (pageId) => ({ forgotten: [pageId], forgotten_minutes: 30 }),
  'endless list': () => ({ loops: true }),
  // The first ads come, and then no answer until the time of the batch is over.
  'list without its end': () => ({
    ads_max: 20,
    next: [
      ...Array.from({ length: GOOD_BEFORE_FAULTS }, () => null),
      ...Array.from({ length: FAULTS_OF_A_DAY }, () => ({ kind: 'html' as const })),
    ],
  }),
  'ads without a page': () => ({ zero_page_ids: true }),
};

/** The other faults concern pages that are linked already. */
export const ADD_FAULTS = [
  'none',
  'limit of the app',
  'limit of the user',
  'too much data',
  'unknown errors',
  'broken answers',
  'refused token',
  'missing permission',
  'endless list',
  'ads without a page',
] as const;

/** One fault of a shop for each row of what the collector does about its answers. */
export const SHOP_FAULTS: Readonly<Record<string, Omit<WorldFaultInput, 'host'>>> = {
  none: { kind: 'status', status: 404, path: '/nowhere' },
  'too many requests': { kind: 'status', status: 429, retry_after: 120 },
  'too many requests without a time': { kind: 'status', status: 429, path: '/products.json' },
  'robots refused': { kind: 'status', status: 430, path: '/products.json' },
  unauthorized: { kind: 'status', status: 401 },
  forbidden: { kind: 'status', status: 403, path: '/meta.json' },
  locked: { kind: 'status', status: 423 },
  'server error': { kind: 'status', status: 503, times: 2 },
  'robots.txt is away': { kind: 'status', status: 500, path: '/robots.txt' },
  'HTML for JSON': { kind: 'html', path: '/products.json' },
  'answer without its end': { kind: 'cut', path: '/products.json' },
  'answer too large': { kind: 'large', path: '/products.json' },
  'closed connection': { kind: 'network' },
  'closed shop': { kind: 'password', path: '/products.json' },
  'wrong types': { kind: 'wrong_types', path: '/products.json' },
  'wrong types of the count': { kind: 'wrong_types', path: '/meta.json' },
  'deep JSON': { kind: 'deep', path: '/products.json' },
  'another charset': { kind: 'charset', path: '/products.json' },
  'a product twice': { kind: 'duplicate', path: '/products.json', times: null },
  'half of the products': { kind: 'half', path: '/products.json', times: null },
  'an endless list': { kind: 'loop', path: '/products.json', times: null },
  'redirect inward': { kind: 'redirect_inward' },
  'redirect to itself': { kind: 'redirect_loop', path: '/products.json' },
  'expired address': { kind: 'expired', path: '/products.json' },
  'size that lies': { kind: 'size_lie', path: '/products.json' },
};

/** Under these faults, which last all day, no scan of a shop is complete (COLLECTORS §6). */
const INCOMPLETE_SHOPS: readonly string[] = ['half of the products', 'a product twice', 'an endless list'];

/** Whether a fault ends after a few answers; others last all day. */
const isBrief = (name: string): boolean => Object.keys(ARCHIVE_FAULTS[name]?.('') ?? {}).join() === 'next';

/** Plans each fault where the days suffice; otherwise one a day, with a refused page on the second day. */
export const planFaults = (days: number, random: Random): readonly (readonly string[])[] => {
  const names = Object.keys(ARCHIVE_FAULTS);
  const brief = names.filter(isBrief);
  const lasting = names.filter((name) => !isBrief(name));
  const others = Math.min(days - lasting.length, brief.length);
  const few = names.filter((name) => name !== 'refused page').map((name) => [name]);
  const plan =
    others < 1
      ? few
      : [
          ...lasting.map((name) => [name]),
          ...Array.from({ length: others }, (_, day) => brief.filter((__, index) => index % others === day)),
        ];
  const offset = random.below(plan.length);
  const played = Array.from({ length: days }, (_, day) => plan[(offset + day) % plan.length] ?? []);
  return plan === few ? played.toSpliced(1, 1, ['refused page']) : played;
};

export const setArchiveFaults = ({ world }: Weeks, names: readonly string[], brand: PlayedBrand): void => {
  clearArchiveFaults(world.archive);
  for (const name of names) {
    addArchiveFaults(world.archive, ARCHIVE_FAULTS[name]?.(brand.pages[0]?.id ?? '') ?? {});
  }
};

/** Endless. Each third fault makes scans incomplete, and all others come before one is repeated. */
export function* shopFaultsInTurn(random: Random): Generator<string, never> {
  const others = Object.keys(SHOP_FAULTS).filter((name) => !INCOMPLETE_SHOPS.includes(name));
  const offset = random.below(others.length);
  for (let turn = 0; ; turn += 1) {
    yield INCOMPLETE_SHOPS[turn % INCOMPLETE_SHOPS.length] as string;
    yield others[(offset + 2 * turn) % others.length] as string;
    yield others[(offset + 2 * turn + 1) % others.length] as string;
  }
}

export type PlayedShopFault = { readonly name: string; readonly domain: string; readonly on: string };

export const isIncompleteShop = (faults: readonly PlayedShopFault[], domain: string, on: string): boolean =>
  faults.some((fault) => fault.domain === domain && fault.on === on && INCOMPLETE_SHOPS.includes(fault.name));

/** Each fault gets a shop of its own. Returns the names by domain. */
export const setShopFaults = (
  { world }: Weeks,
  names: Iterator<string, never>,
  shops: readonly PlayedBrand[],
): ReadonlyMap<string, string> => {
  world.faults.clear();
  const chosen = new Map(shops.map(({ brand }) => [brand.domain, names.next().value]));
  world.faults.add([...chosen].map(([host, name]) => ({ host, ...SHOP_FAULTS[name] }) as WorldFaultInput));
  return chosen;
};
