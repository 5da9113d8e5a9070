import { canonicalJson } from '#contracts/audit/canonical.ts';
import {
  chainHash,
  GENESIS_HASH,
  toHistoryRecord,
  WORKSPACE_CATEGORIES,
  workspaceIdOf,
} from '#contracts/audit/entry.ts';
import { categoryOf, type RecordedEvent } from '#contracts/events/event.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { HOUR_MS, SECOND_MS } from '#contracts/values/time.ts';
import { listUnrecorded } from '#application/delivery-outbox/journal.ts';
import {
  checkInvariants,
  claimVerification,
  type InvariantsReport,
  readVerification,
  storeVerification,
} from '#application/invariants/check-invariants.ts';
import { LogAltered, verifyDigests } from '#application/audit/log-digest.ts';
import type { RawLog } from '#platform/event-store/copy/raw-log.ts';
import { pause, systemClock } from '#platform/clock.ts';
import { describeCommandError, describeServerError } from '#platform/command-line.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type Checks, findMissing } from '#platform/process/readiness.ts';
import { projections } from '#projections/index.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';
import { listWorkspaces, WORKSPACES_LISTED_MAX } from '#projections/workspaces/read.ts';
import { type ChainStatus, checkChain } from '../audit/history.ts';
import { findEvents } from '../log/search.ts';
import { readStatus, requestVerification, watchVerification } from '../projections.ts';
import { countWaitingStreams } from '../waiting-events.ts';

/**
 * Answers in a word whether log, read models and histories are whole and healthy. What could not be checked is a
 * finding as well, so that the word is never better than what was seen.
 */

/** From worst to best; the word of an attestation is the worst of its checks. Also the meaning of each exit code. */
export const WORDS = {
  broken: { exitCode: 1, meaning: 'something differs from what was recorded' },
  unhealthy: { exitCode: 2, meaning: 'a part is behind, stopped, parked or cannot be reached' },
  unchecked: { exitCode: 3, meaning: 'a part could not be checked' },
  whole: { exitCode: 0, meaning: 'everything was checked, is whole and works' },
} as const;
export type Word = keyof typeof WORDS;

export type Finding = { readonly word: Exclude<Word, 'whole'>; readonly reason: string };

export type AttestedCheck = {
  readonly name: string;
  readonly word: Word;
  /** Text about how much was checked. */
  readonly checked: string;
  readonly findings: readonly Finding[];
};

export type AttestedHistory = {
  readonly workspace_id: string;
  readonly name: string;
  readonly entries: number;
  readonly head_hash: string;
};

export type Attestation = {
  readonly word: Word;
  readonly attested_at: string;
  /** Whether read models were compared with a replay of the log. */
  readonly is_replayed: boolean;
  readonly checks: readonly AttestedCheck[];
  /** Histories whose chain is whole. */
  readonly histories: readonly AttestedHistory[];
};

export type AttestDependencies = {
  readonly pool: Database;
  readonly db: ReadDatabase;
  readonly eventStore: EventStore;
  readonly serverChecks: Checks;
};

/** Findings of one kind that are named; further ones are counted. */
const NAMED_MAX = 20;
/** Time in which read models must apply what was in the log at the beginning. */
const BEHIND_MAX_MS = 10 * SECOND_MS;
const POLL_MS = 250;
const REPLAY_MAX_MS = HOUR_MS;
const OVERDUE_SECONDS = 300;
/** The figures are verified each night. */
const FIGURES_AGE_MAX_HOURS = 48;
const FIGURES_WAIT_MS = 60 * SECOND_MS;
const FIGURES_RECHECK_MS = 3 * SECOND_MS;

const worstOf = (words: readonly Word[]): Word =>
  (Object.keys(WORDS) as Word[]).find((word) => words.includes(word)) ?? 'whole';

const broken = (reason: string): Finding => ({ word: 'broken', reason });
const unhealthy = (reason: string): Finding => ({ word: 'unhealthy', reason });
const unchecked = (reason: string): Finding => ({ word: 'unchecked', reason });

const shorten = (findings: readonly Finding[]): readonly Finding[] => {
  const shown = findings.slice(0, NAMED_MAX);
  const left = findings.slice(NAMED_MAX);
  if (left.length === 0) return shown;
  return [
    ...shown,
    { word: worstOf(left.map(({ word }) => word)) as Finding['word'], reason: `${left.length} more` },
  ];
};

type Checked = { readonly checked: string; readonly findings: readonly Finding[] };

const reasonOf = (error: unknown): string =>
  describeServerError(error) ??
  describeCommandError(error) ??
  (error instanceof Error ? error.message : String(error));

const runCheck = async (name: string, check: () => Promise<Checked>): Promise<AttestedCheck> => {
  const { checked, findings } = await check().catch((error: unknown) => ({
    checked: 'nothing',
    findings: [unchecked(reasonOf(error))],
  }));
  const word = worstOf(findings.map((one) => one.word));
  return { name, word, checked, findings: shorten(findings) };
};

const checkServers = async ({ serverChecks }: AttestDependencies): Promise<Checked> => ({
  checked: Object.keys(serverChecks).join(', '),
  findings: (await findMissing(serverChecks)).map(({ what, why }) =>
    unhealthy(`${what} cannot be reached: ${why}`),
  ),
});

/** Chain of a workspace as its events in the log give it. */
type LoggedChain = { entries: number; hash: string; readonly hashes: Map<number, string> };

type LogReading = {
  readonly checked: Checked;
  /** Events up to the position of the histories, and the hash at the entry that each history ends with. */
  readonly chains: ReadonlyMap<string, LoggedChain>;
};

const HISTORY_CATEGORIES: ReadonlySet<string> = new Set(WORKSPACE_CATEGORIES);

/** Reads every event. `ends`: entries at which the hash of a history is compared. */
const readLog = async (
  eventStore: EventStore,
  historyPosition: bigint,
  ends: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<LogReading> => {
  const head = await eventStore.head();
  const revisions = new Map<string, bigint>();
  const chains = new Map<string, LoggedChain>();
  const findings: Finding[] = [];
  let events = 0;
  let last = -1n;
  const chain = (event: RecordedEvent): void => {
    const workspaceId = workspaceIdOf(event);
    const one = chains.get(workspaceId) ?? { entries: 0, hash: GENESIS_HASH, hashes: new Map() };
    chains.set(workspaceId, one);
    const end = ends.get(workspaceId) ?? 0;
    if (event.position > historyPosition && one.entries >= end) return;
    one.entries += 1;
    one.hash = chainHash(one.hash, one.entries, canonicalJson(toHistoryRecord(event)));
    if (one.entries === end) one.hashes.set(end, one.hash);
  };
  for await (const event of findEvents(eventStore, {}, signal)) {
    const { stream, revision, position, type, unreadable } = event;
    events += 1;
    const expected = (revisions.get(stream) ?? -1n) + 1n;
    if (revision !== expected)
      findings.push(broken(`${stream} has revision ${revision} after ${expected - 1n}: events are missing`));
    revisions.set(stream, revision);
    if (position <= last) findings.push(broken(`position ${position} follows ${last}`));
    last = position;
    if (unreadable !== undefined)
      findings.push(
        unchecked(`${stream} holds ${type} in schema version ${unreadable}, which this release cannot read`),
      );
    if (HISTORY_CATEGORIES.has(categoryOf(stream))) chain(event);
  }
  signal.throwIfAborted();
  if (last < head)
    findings.push(unchecked(`the log was read up to position ${last}, and its last event is at ${head}`));
  const checked = `${events} events in ${revisions.size} streams, up to position ${last < 0n ? 0n : last}`;
  return { checked: { checked, findings }, chains };
};

const HISTORY = 'workspace-history';

type Histories = {
  readonly checked: Checked;
  readonly log: Checked;
  readonly whole: readonly AttestedHistory[];
};

const compareHistory = (
  workspaceId: string,
  status: ChainStatus,
  logged: LoggedChain | undefined,
): readonly Finding[] => {
  if (!status.intact) return [broken(`${workspaceId}: the chain is broken at entry ${status.broken_at}`)];
  const { entries } = status;
  const inLog = logged?.entries ?? 0;
  if (entries < inLog)
    return [broken(`${workspaceId}: entries ${entries + 1} to ${inLog} of the log are missing`)];
  if (entries > inLog)
    return [broken(`${workspaceId}: entries ${inLog + 1} to ${entries} are not in the log`)];
  return logged?.hashes.get(entries) === status.head_hash
    ? []
    : [broken(`${workspaceId}: the entries are others than the events of the log`)];
};

/** The chains are checked in the tables, and then computed again from the log, which shows also a chain that was rewritten. */
const checkHistories = async (
  { pool, db, eventStore }: AttestDependencies,
  signal: AbortSignal,
): Promise<Histories> => {
  const [row] = await readStatus(pool, eventStore, projections, HISTORY);
  const position = BigInt(row?.position ?? 0);
  const listed = await listWorkspaces(db);
  const chains = new Map<string, ChainStatus | null>();
  const readChain = async (workspaceId: string): Promise<void> => {
    // `null`: no entry.
    const status = await checkChain(db, workspaceId, signal).catch((error: unknown) => {
      if ((error as { code?: unknown }).code === 'not_found') return null;
      throw error;
    });
    chains.set(workspaceId, status);
  };
  for (const { workspace_id } of listed) await readChain(workspace_id);
  const ends = new Map([...chains].map(([id, status]) => [id, status?.entries ?? 0]));
  const log = await readLog(eventStore, position, ends, signal);
  const findings: Finding[] = [];
  if (listed.length >= WORKSPACES_LISTED_MAX)
    findings.push(unchecked(`only the newest ${WORKSPACES_LISTED_MAX} workspaces are checked`));
  const isComplete = (row?.parked ?? 0) + (row?.skipped ?? 0) === 0;
  if (!isComplete)
    findings.push(
      unchecked('events of the histories are parked or skipped, so entries after them are missing'),
    );
  const names = new Map(listed.map(({ workspace_id, name }) => [workspace_id, name]));
  const whole: AttestedHistory[] = [];
  for (const workspaceId of new Set([...chains.keys(), ...log.chains.keys()])) {
    const logged = log.chains.get(workspaceId);
    const status = chains.get(workspaceId) ?? null;
    if (status === null) {
      if (isComplete && logged !== undefined && logged.entries > 0)
        findings.push(broken(`${workspaceId}: ${logged.entries} events of the log are in no history`));
      continue;
    }
    const found = isComplete || !status.intact ? compareHistory(workspaceId, status, logged) : [];
    findings.push(...found);
    if (isComplete && found.length === 0)
      whole.push({
        workspace_id: workspaceId,
        name: names.get(workspaceId) ?? '',
        entries: status.entries,
        head_hash: status.head_hash,
      });
  }
  const checked = `${chains.size} histories, ${whole.length} of them whole`;
  return { checked: { checked, findings }, log: log.checked, whole };
};

const checkReadModels = async ({ pool, eventStore }: AttestDependencies): Promise<Checked> => {
  const head = await eventStore.head();
  const deadline = Date.now() + BEHIND_MAX_MS;
  for (;;) {
    const rows = await readStatus(pool, eventStore, projections);
    const findings: Finding[] = [];
    const behind: Finding[] = [];
    for (const { name, version, prefixes } of projections) {
      const row = rows.find((one) => one.name === name);
      if (row === undefined) {
        findings.push(unhealthy(`${name} was never built`));
        continue;
      }
      if (row.state !== 'live') findings.push(unhealthy(`${name} is ${row.state}`));
      if (row.version !== version)
        findings.push(unhealthy(`${name} has tables of version ${row.version}, this release is ${version}`));
      if (row.owner === null) findings.push(unhealthy(`no projector runs ${name}`));
      if (row.parked > 0) findings.push(unhealthy(`${row.parked} events of ${name} are parked`));
      if (row.skipped > 0) findings.push(unhealthy(`${row.skipped} events of ${name} were skipped`));
      if (row.next_try !== null || row.standing_since !== null)
        findings.push(unhealthy(`${name} fails: ${row.last_error ?? 'it does not advance'}`));
      const position = BigInt(row.position);
      if (position < head && (await eventStore.isBehind(position, prefixes)))
        behind.push(unhealthy(`${name} is behind the log, at position ${position}`));
    }
    // While events are recorded, each look finds another one behind.
    if (behind.length === 0 || findings.length > 0 || Date.now() >= deadline)
      return { checked: `${rows.length} read models`, findings: [...findings, ...behind] };
    await pause(POLL_MS);
  }
};

/** Compares one read model after the other with a replay, in the projector that owns it. */
const checkReplays = async ({ pool }: AttestDependencies, signal: AbortSignal): Promise<Checked> => {
  const findings: Finding[] = [];
  const limit = AbortSignal.any([signal, AbortSignal.timeout(REPLAY_MAX_MS)]);
  let compared = 0;
  for (const { name } of projections) {
    try {
      await requestVerification(pool, name, { to: null, by: 'attest' });
      const done = await watchVerification(pool, name, () => undefined, limit);
      if (done?.state === 'passed') compared += 1;
      else if (done?.state === 'differs') findings.push(broken(`${name} differs from a replay of the log`));
      else findings.push(unchecked(`${name} was not compared with a replay: ${done?.error ?? done?.state}`));
    } catch (error) {
      findings.push(unchecked(`${name} was not compared with a replay: ${reasonOf(error)}`));
    }
  }
  return { checked: `${compared} read models are equal to a replay`, findings };
};

const findingsOf = ({ invariants, left_out }: InvariantsReport): readonly Finding[] => [
  ...invariants
    .filter(({ state }) => state === 'violated')
    .map(({ rule, violations }) => broken(`${violations} violations of the rule: ${rule}`)),
  ...invariants
    .filter(({ state }) => state === 'not_checked')
    .map(({ rule, reason }) => unchecked(`the rule was not checked (${reason}): ${rule}`)),
  ...(left_out > 0 ? [unchecked(`${left_out} brands with parked or skipped events were left out`)] : []),
];

const checkFigures = async (
  { pool }: AttestDependencies,
  isReplayed: boolean,
  signal: AbortSignal,
): Promise<Checked> => {
  if (isReplayed) {
    const options = { invariants: INVARIANTS, clock: systemClock, signal };
    const report = await checkInvariants(pool, {
      ...options,
      waitMs: FIGURES_WAIT_MS,
      recheckMs: FIGURES_RECHECK_MS,
    });
    await claimVerification(pool, 0);
    await storeVerification(pool, { report });
    return { checked: `${report.invariants.length} rules, now`, findings: findingsOf(report) };
  }
  const last = await readVerification(pool);
  if (!last?.report || last.verified_at === null)
    return {
      checked: 'nothing',
      findings: [unchecked('figures were never verified; the worker does it each night, or add --verify')],
    };
  const hours = (Date.now() - Date.parse(last.verified_at)) / HOUR_MS;
  return {
    checked: `${last.report.invariants.length} rules, at ${last.verified_at}`,
    findings: [
      ...findingsOf(last.report),
      ...(hours > FIGURES_AGE_MAX_HOURS
        ? [unchecked(`figures were last verified more than ${FIGURES_AGE_MAX_HOURS} hours ago; add --verify`)]
        : []),
      ...(last.error === null ? [] : [unchecked(`the last verification failed: ${last.error}`)]),
    ],
  };
};

const checkDeliveries = async ({ pool }: AttestDependencies): Promise<Checked> => {
  const { rows } = await pool.query<{ due: number; overdue: number }>(
    `select count(*)::int as due,
       (count(*) filter (where next_attempt_at < now() - make_interval(secs => $1)))::int as overdue
     from delivery.due`,
    [OVERDUE_SECONDS],
  );
  const { due = 0, overdue = 0 } = rows[0] ?? {};
  const unrecorded = await listUnrecorded(pool, 1);
  const waiting = await countWaitingStreams(pool);
  return {
    checked: `${due} deliveries under way`,
    findings: [
      ...(overdue > 0
        ? [unhealthy(`${overdue} deliveries have been due for more than ${OVERDUE_SECONDS} seconds`)]
        : []),
      ...(unrecorded.length > 0
        ? [unhealthy('outcomes of deliveries are not in the log; `deliveries unrecorded` lists them')]
        : []),
      ...(waiting > 0 ? [unhealthy(`${waiting} streams wait for a newer release of alerts`)] : []),
    ],
  };
};

/** Compares the log with each digest that was signed of it. */
const checkDigests = async ({ pool, eventStore }: AttestDependencies, log: RawLog): Promise<Checked> => {
  try {
    const last = await verifyDigests({ database: pool, log, eventStore });
    return last === null
      ? { checked: 'nothing', findings: [unchecked('no digest of the log is signed; `digest make` does it')] }
      : { checked: `${last.sequence} digests, the last over ${last.events} events`, findings: [] };
  } catch (error) {
    if (error instanceof LogAltered) return { checked: 'digests', findings: [broken(error.message)] };
    throw error;
  }
};

/** Never throws for a part that cannot be checked. `rawLog`: to compare read models with a replay, and digests with the log. */
export const attest = async (
  dependencies: AttestDependencies,
  rawLog: RawLog | null,
  signal: AbortSignal,
): Promise<Attestation> => {
  const isReplayed = rawLog !== null;
  const servers = await runCheck('servers', () => checkServers(dependencies));
  const readModels = await runCheck('read models', () => checkReadModels(dependencies));
  let histories: Histories | null = null;
  const ofHistories = await runCheck('histories', async () => {
    histories = await checkHistories(dependencies, signal);
    return histories.checked;
  });
  const found = histories as Histories | null;
  const log = await runCheck('log', async () => {
    if (found !== null) return found.log;
    const { checked } = await readLog(dependencies.eventStore, 0n, new Map(), signal);
    return checked;
  });
  const replays =
    rawLog === null
      ? []
      : [
          await runCheck('digests', () => checkDigests(dependencies, rawLog)),
          await runCheck('replays', () => checkReplays(dependencies, signal)),
        ];
  const figures = await runCheck('figures', () => checkFigures(dependencies, isReplayed, signal));
  const deliveries = await runCheck('deliveries', () => checkDeliveries(dependencies));
  const checks = [servers, log, ofHistories, readModels, ...replays, figures, deliveries];
  return {
    word: worstOf(checks.map(({ word }) => word)),
    attested_at: new Date().toISOString(),
    is_replayed: isReplayed,
    checks,
    histories: found?.whole ?? [],
  };
};
