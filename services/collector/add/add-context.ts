import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { Refusal } from '#contracts/errors.ts';
import { mayCall } from '#domain/collecting/pace.ts';
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
import { createPacedAccount, type PacedAccount } from '../ads-archive/paced-account.ts';
import { readersOf } from '../collector.ts';
import { createCollectorTables } from '../collector-tables.ts';
import { createHostStore } from '../schedule/host-store.ts';
import type { TargetRunner } from '../schedule/run-targets.ts';
import { ADS_ARCHIVE, CollectorSettings } from '../settings.ts';
import { createToolDetector } from '../site/tools/tool-detector.ts';
import { NO_CALLS, NO_TOKEN } from './sentences.ts';

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
        appSecret: await readAppSecret(vault, stored, settings.ADS_ARCHIVE_APP_SECRET ?? null),
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
