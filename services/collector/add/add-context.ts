import { type ArchiveAccess, mayCall } from '#domain/collecting/pace.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { Refusal } from '#contracts/errors.ts';
import { type Clock, pause, systemClock } from '#platform/clock.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { readBotKey } from '#platform/http-client/bot-key.ts';
import { createPoliteClient } from '#platform/http-client/polite-client.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { environmentWithLocalStack, readSettings } from '#platform/settings.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import {
  readAccount,
  readAccountNames,
  readAppSecret,
  readToken,
  saveAccountState,
} from '../ads-archive/account-store.ts';
import { createArchiveClient } from '../ads-archive/archive-client.ts';
import { type PacedAccount, createPacedAccount } from '../ads-archive/paced-account.ts';
import { readersOf } from '../collector.ts';
import { createCollectorTables } from '../collector-tables.ts';
import { createHostStore } from '../schedule/target-store.ts';
import type { TargetRunner } from '../schedule/run-targets.ts';
import { ADS_ARCHIVE, CollectorSettings } from '../settings.ts';
import { createToolDetector } from '../site/tools/tool-detector.ts';

export const NO_ADS = (domain: string): string =>
  `The official library API shows no ads for ${domain}. It shows ads that were delivered in the European Union or the ` +
  'United Kingdom in the last year, and elsewhere only ads about politics. A brand that advertises in other countries ' +
  'alone, such as the United States, has no ads there; other collectors can send its scans to the intake.';

/** Shown when a page is linked but no collector reads its ads. */
export const NO_READER =
  'No collector reads ads at the library API now. Start one with COLLECT_SOURCES=storefront,site,landing_pages,ads_archive.';

/** Shown when no token is stored. */
export const NO_TOKEN =
  'No token of the official library API is stored, so ads and social pages are not read. The site, the shop and the ' +
  'landing pages of known ads are. To get a token: confirm your identity at facebook.com/ID, create an app at ' +
  'developers.facebook.com, create a token for it in the Graph API Explorer, and run: collect token set < token.txt';

/** Shown when the account makes no calls now. */
export const NO_CALLS = (access: ArchiveAccess): string =>
  access.kind === 'shut'
    ? `The library API limits the account until ${new Date(access.untilMs).toISOString()}, so pages were not searched. Repeat the command then.`
    : 'The library API refuses the token, so pages were not searched. Store another one with: collect token set < token.txt';

const POOL_CLIENTS = 4;

export type AddContext = {
  readonly runner: Omit<TargetRunner, 'signal'>;
  readonly db: ReadDatabase;
  readonly nats: Nats;
  readonly sources: readonly string[];
  readonly countries: readonly string[];
  readonly callsPerHour: number;
  readonly cadence: 'daily' | 'weekly';
  /** `null` takes the name that the site states. */
  readonly name: string | null;
  /** Opens an account, or returns a sentence that says why it makes no calls. */
  readonly openAccount: () => Promise<PacedAccount | string>;
  readonly hasToken: () => Promise<boolean>;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
};

type Choices = Pick<AddContext, 'cadence' | 'name' | 'progress'> &
  /** Absent: the command is not interrupted. */
  Partial<Pick<AddContext, 'signal'>>;

/** Replaced in tests by those of a simulated world. */
export type AddSurroundings = Pick<AddContext, 'wait'> & {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly leaseClock?: Clock;
};

export const withAddContext = async <T>(
  choices: Choices,
  run: (context: AddContext) => Promise<T>,
  surroundings: AddSurroundings = {
    environment: environmentWithLocalStack(),
    clock: systemClock,
    wait: pause,
  },
): Promise<T> => {
  const { environment, clock, leaseClock, wait } = surroundings;
  const settings = readSettings(CollectorSettings, environment);
  const { DATABASE_URL, EGRESS_ALLOW_LOOPBACK, EGRESS_OWN_ADDRESSES, COLLECT_VIA, MEMBER_VAULT_KEY } =
    settings;
  if (COLLECT_VIA !== undefined && !EGRESS_ALLOW_LOOPBACK) {
    throw new Refusal('invalid_input', 'COLLECT_VIA needs EGRESS_ALLOW_LOOPBACK=true.');
  }
  await using resources = new AsyncDisposableStack();
  const database = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => database.end());
  await createCollectorTables(database);
  const db = resources.use(openReadDatabase(DATABASE_URL));
  const nats = resources.use(await openNats(settings.NATS_URL, 'collect-command', settings));
  const egress = resources.use(
    openEgress({ allowLoopback: EGRESS_ALLOW_LOOPBACK, ownAddresses: EGRESS_OWN_ADDRESSES }),
  );
  const log = silentLog();
  const userAgent = `ad-intelligence/${packageJson.version} (+${settings.COLLECT_CONTACT})`;
  const via = COLLECT_VIA ?? null;
  const client = createPoliteClient({
    egress,
    via,
    hosts: createHostStore(database),
    clock,
    userAgent,
    botKey:
      settings.BOT_KEY_FILE === undefined
        ? null
        : await readBotKey(settings.BOT_KEY_FILE, settings.API_BASE_URL),
    // The simulated world needs no pace.
    ...(via === null ? {} : { paceMs: 0 }),
  });
  const detector = resources.use(createToolDetector({ log }));
  const sources = settings.COLLECT_SOURCES;
  const hasToken = async (): Promise<boolean> =>
    MEMBER_VAULT_KEY !== undefined && (await readAccountNames(database)).length > 0;
  const openAccount = async (): Promise<PacedAccount | string> => {
    const now = clock.now();
    const names = await readAccountNames(database);
    const accounts = await Promise.all(names.map((name) => readAccount(database, now, name)));
    const [first] = accounts;
    if (!first || MEMBER_VAULT_KEY === undefined) return NO_TOKEN;
    const stored = accounts.find((account) => account && mayCall(account.state.access, now.getTime()));
    if (!stored) return NO_CALLS(first.state.access);
    const vault = await openSecretVault(database, ...MEMBER_VAULT_KEY);
    const token = await readToken(vault, stored);
    if (token === null) return NO_TOKEN;
    return createPacedAccount({
      client: createArchiveClient({
        egress,
        via,
        ...ADS_ARCHIVE,
        userAgent,
        token,
        appSecret: await readAppSecret(vault, stored, settings.ADS_ARCHIVE_APP?.secret ?? null),
        reached: settings.ADS_ARCHIVE_REACHED,
      }),
      clock,
      callsPerHour: settings.ADS_ARCHIVE_CALLS_PER_HOUR,
      stored: stored.state,
      save: (state) => saveAccountState(database, stored, state, clock.now()),
      wait,
    });
  };
  return await run({
    runner: {
      database,
      nats,
      client,
      clock,
      leaseClock,
      log,
      readers: readersOf({ sources, database, db }, detector),
      owner: `command-${process.pid}-${Date.now()}`,
    },
    db,
    nats,
    sources,
    countries: settings.ADS_ARCHIVE_COUNTRIES,
    callsPerHour: settings.ADS_ARCHIVE_CALLS_PER_HOUR,
    openAccount,
    hasToken,
    wait,
    signal: new AbortController().signal,
    ...choices,
  });
};
