import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandSlugStream } from '#contracts/events/corpus/brand-slug.ts';
import type { CommandMetadata, Event } from '#contracts/events/event.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { brand, registerBrand } from '#domain/corpus/brand.ts';
import { brandSlug, brandSlugsOf, domainOfOldSlug, reserveBrandSlug } from '#domain/corpus/brand-slug.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type ArchiveMode, createArchiveTables } from '#application/media-archive/archive-tables.ts';
import { wantMedia } from '#application/media-archive/want-media.ts';
import {
  type Command,
  type CommandResult,
  createCommandHandler,
  eventMetadata,
  executeFromCached,
  serviceActor,
} from '#application/commands/command-handler.ts';
import { openEventStore, type EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { FENCED_CONNECTION, type Lease, proveLease } from '#platform/postgres/lease/leases.ts';
import { openPreparingPool, withProof } from '#platform/postgres/pool.ts';
import { type RetryLimits, retry } from '#platform/concurrency/retry.ts';
import { LRUCache } from 'lru-cache';
import { v7 } from 'uuid';
import { LockLost, openBrandLocks } from './brand-locks.ts';
import { catchUpWorkingTables } from './catch-up-working-tables.ts';
import { followWorkingTables } from './follow-working-tables.ts';
import { countShortened } from './count-shortened.ts';
import { createDecision } from './decider-registry.ts';
import { isFolded, storeBrand } from './folded-streams.ts';
import { foldAppended, foldPending } from './pending-folds.ts';
import { proveOfLate } from './prove-of-late.ts';
import { whileMarked } from './pending-mark.ts';
import { inUtc, parseObservation } from '#application/observations/validate-observation.ts';
import type { BrandRegister, Intake, IntakeOutcome, Leading, Retention } from '../intake-types.ts';
import { decideAgain } from '../ad-library/late/decide-again.ts';
import { recordStagedScan } from '../ad-library/record-scan.ts';
import { noteIfLate, runWithCauseLocks } from '../attribution/late-cause.ts';
import { moveAdsOfDomain } from '../attribution/move-ads.ts';
import { type PackedChunk, packChunk, stageChunk } from '../ad-library/chunk-staging.ts';
import { deleteOldCataloguePages, deleteOldScans } from './retention.ts';
import { stageStorefrontPage } from '../storefront/page-staging.ts';
import { createStorefrontRecorder } from '../storefront/record-scan.ts';
import { createWorkingTables } from '../ad-library/library-store.ts';

/** The state type is erased: only the decider creates and reads it. */
type StreamCommand = Omit<Command<unknown, Event>, 'mayRepeat' | 'isShared' | 'conflicts'>;

/**
 * Decides on cached states, so that a decision reads nothing while no other process appends. Otherwise each of 4,000
 * links of a page would read all links before it.
 */
export const createStreamCommands = (eventStore: Pick<EventStore, 'load' | 'append'>) => {
  const handler = createCommandHandler({ ...eventStore, waitFor: (work) => work });
  return (command: StreamCommand): Promise<CommandResult<unknown, Event>> =>
    handler.execute({ ...command, isShared: true, mayRepeat: false });
};

const POOL_CLIENTS = 8;
const BRANDS_CACHED_MAX = 100_000;
const LOCK_RETRIES: RetryLimits = { attempts: 5, firstDelayMs: 100, maxDelayMs: 1_000 };

/** Mostly a brand and its slug are new. Otherwise the append fails, and the decision is repeated on the stream's state. */
const NO_STREAM = { revision: -1n, position: 0n };

const metadata = (commandId: string): CommandMetadata =>
  eventMetadata({ actor: serviceActor('ingest'), correlationId: commandId, causationId: commandId });

export type IntakeOptions = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly log?: Log;
  readonly mediaArchive?: ArchiveMode;
};

export const openIntake = async ({
  databaseUrl,
  eventStoreUrl,
  log,
  mediaArchive = 'off',
}: IntakeOptions): Promise<Required<Intake> & BrandRegister & Leading & Retention & AsyncDisposable> => {
  const resources = new AsyncDisposableStack();
  const pool = openPreparingPool(databaseUrl, POOL_CLIENTS, FENCED_CONNECTION);
  resources.defer(() => pool.end());
  let lease: Lease | null = null;
  const database = withProof(pool, async (client) => {
    if (lease) await proveLease(client, lease);
  });
  const locks = resources.use(openBrandLocks(databaseUrl));
  // The expected revision of the append orders writers. The proofs keep a former leader from winning an append.
  const proveAppend = (): Promise<void> =>
    proveOfLate(async () => {
      // The lease first: without it this process must not take lost locks again, which the new leader may hold.
      if (lease) await proveLease(pool, lease);
      await locks.prove();
    });
  const eventStore = resources.use(openEventStore(eventStoreUrl, { proveAppend }));
  const deleteExpired = async (signal: AbortSignal = new AbortController().signal): Promise<void> => {
    await deleteOldScans(database, signal);
    await deleteOldCataloguePages(database, signal);
  };
  try {
    await createWorkingTables(database);
    if (mediaArchive !== 'off') await createArchiveTables(database);
    const caughtUp = await catchUpWorkingTables(database, eventStore, log);
    resources.use(followWorkingTables({ database, eventStore, log }, caughtUp));
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }

  const recordStorefront = createStorefrontRecorder(database, eventStore, undefined, locks);
  const runOnStream = createStreamCommands(eventStore);

  const registeredBrands = new LRUCache<string, true>({ max: BRANDS_CACHED_MAX });
  /** A row in `ingest.brand` proves that the log has the registration. */
  const hasBrand = async (domain: string): Promise<boolean> => {
    if (registeredBrands.get(domain)) return true;
    const { rows } = await database.query({
      name: 'ingest_has_brand',
      text: 'select from ingest.brand where domain = $1',
      values: [domain],
    });
    if (rows.length > 0) registeredBrands.set(domain, true);
    return rows.length > 0;
  };
  const isBrandRegistered = (domain: string): Promise<boolean> => hasBrand(domain).catch(() => false);

  /**
   * Repeated, it returns the same slug; a brand that is not registered afterwards keeps it for the next time. An older
   * slug of a registered brand is left to it.
   */
  const reserveSlug = async (domain: string, observedAt: string): Promise<string> => {
    for (const slug of brandSlugsOf(domain)) {
      const former = domainOfOldSlug(slug);
      if (former.includes('.') && former !== domain && (await hasBrand(former))) continue;
      const commandId = v7();
      const { state } = await executeFromCached(
        eventStore,
        {
          stream: brandSlugStream(slug),
          decider: brandSlug,
          decision: reserveBrandSlug(slug, domain, observedAt),
          metadata: metadata(commandId),
          commandId,
        },
        { state: brandSlug.initial, ...NO_STREAM },
      );
      if (state === brandIdOf(domain)) return slug;
    }
    throw new Error(`other brands have all slugs of ${domain}`);
  };

  const registerIfMissing = async (
    domain: string,
    observedAt: string,
    commandId: string,
  ): Promise<number> => {
    if (await hasBrand(domain)) return 0;
    const brandId = brandIdOf(domain);
    const stream = brandStream(brandId);
    return await whileMarked(database, { stream, commandId }, async (mark) => {
      const [slug] = await Promise.all([reserveSlug(domain, observedAt), mark.set()]);
      const decision = registerBrand(domain, slug, observedAt);
      const command = { stream, decider: brand, decision, metadata: metadata(commandId), commandId };
      const { events } = await executeFromCached(eventStore, command, { state: brand.initial, ...NO_STREAM });
      await storeBrand(database, brandId, domain, observedAt);
      return events.length;
    });
  };

  const record = async (observation: Observation, packed: PackedChunk | null): Promise<IntakeOutcome> => {
    const commandId = v7();
    switch (observation.type) {
      case 'ad_library.scan':
        inUtc(observation.scanned_at, 'scanned_at');
        await stageChunk(database, observation, packed ?? packChunk(observation));
        await wantMedia(database, mediaArchive, {
          ads: observation.ads,
          seenAt: new Date(observation.scanned_at),
          now: new Date(),
        });
        return { events: 0, totals: null };
      case 'ad_library.scan_end': {
        const scannedAt = inUtc(observation.scanned_at, 'scanned_at');
        return await recordStagedScan(
          database,
          eventStore,
          { ...observation, scanned_at: scannedAt },
          locks,
          async () => {
            const registered = await registerIfMissing(observation.brand_domain, scannedAt, commandId);
            await foldPending(database, eventStore);
            return registered;
          },
        );
      }
      case 'storefront.scan':
        inUtc(observation.scanned_at, 'scanned_at');
        await stageStorefrontPage(database, observation);
        return { events: 0, totals: null };
      case 'storefront.scan_end': {
        const end = { ...observation, scanned_at: inUtc(observation.scanned_at, 'scanned_at') };
        // The brand is registered only after its scan was recorded.
        const events = await recordStorefront(end);
        const { domain, scanned_at: observedAt } = end;
        const cause = { brandId: brandIdOf(domain), observedAt, about: { domain } };
        // No scan with ads of the domain is decided between the note and the registration.
        return await runWithCauseLocks(database, locks, cause, async () => {
          if (!(await hasBrand(domain))) await noteIfLate(database, cause);
          const registered = await registerIfMissing(domain, observedAt, commandId);
          await foldPending(database, eventStore);
          const again = await decideAgain(database, eventStore, cause);
          const moved = await moveAdsOfDomain(database, eventStore, { domain, observedAt, byScans: true });
          return { events: events + registered + again + moved, totals: null };
        });
      }
      default: {
        const observed = { ...observation, observed_at: inUtc(observation.observed_at, 'observed_at') };
        const isNewBrand = observed.type === 'brand.profile' && !(await hasBrand(observed.domain));
        const slug = isNewBrand ? await reserveSlug(observed.domain, observed.observed_at) : null;
        const { stream, decider, decision, correct, cause, registers } = createDecision(observed, slug);
        const command = { stream, decider, decision, metadata: metadata(commandId), commandId };
        const appending = { stream, commandId };
        const append = () =>
          whileMarked(database, appending, async (mark) => {
            const appended = await runOnStream({
              ...command,
              beforeAppend: async (decided) => {
                if (!decided.some(isFolded)) return;
                await mark.set();
                if (cause) await noteIfLate(database, cause);
              },
            });
            await foldAppended(database, eventStore, appending, appended, mark);
            return appended.events.length;
          });
        const recordAll = async (): Promise<number> => {
          // A late link is noted before its append, so the brand is registered after it, also when the link is
          // repeated.
          const linked = await append();
          const registered =
            registers === undefined ? 0 : await registerIfMissing(registers, observed.observed_at, v7());
          const events = linked + registered;
          if (correct) await foldPending(database, eventStore);
          const again = cause ? await decideAgain(database, eventStore, cause) : 0;
          return events + again + ((await correct?.(database, eventStore)) ?? 0);
        };
        return {
          events: await (cause ? runWithCauseLocks(database, locks, cause, recordAll) : recordAll()),
          totals: null,
        };
      }
    }
  };

  const prepare = (input: unknown): (() => Promise<IntakeOutcome>) => {
    const observation = parseObservation(input);
    const packed = observation.type === 'ad_library.scan' ? packChunk(observation) : null;
    const shortened = countShortened(input, observation);
    return async () => {
      // Events that were appended before the locks were lost are not appended again.
      const outcome = await retry(
        LOCK_RETRIES,
        (error) => error instanceof LockLost,
        () => record(observation, packed),
      );
      return shortened === null ? outcome : { ...outcome, shortened };
    };
  };
  const leadWith = (granted: Lease): void => {
    lease = granted;
  };
  return {
    submit: async (input) => await prepare(input)(),
    prepare,
    isBrandRegistered,
    deleteExpired,
    leadWith,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
