import { randomUUID } from 'node:crypto';
import { type ReportEvent, reportStream } from '#contracts/events/workspace/report.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import {
  extendReportLease,
  failReport,
  finishReport,
  report,
  type ReportState,
  type RequestedReport,
  startReport,
} from '#domain/workspace/report.ts';
import { type Clock, pause } from '#platform/clock.ts';
import { executeCommand, eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { type ClaimableReport, listClaimableReports } from '#projections/reports/read.ts';
import { exportRadar } from './radar-csv.ts';

const POLL_INTERVAL_MS = 2_000;
const REPORTS_PER_POLL_MAX = 20;
const EXTENSIONS_PER_LEASE = 3;

export type ReportExports = {
  readonly db: ReadDatabase;
  readonly eventStore: EventStore;
  readonly objectStore: ObjectStore;
  readonly clock: Clock;
  readonly leaseClock?: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly workerId: string;
  readonly leaseSeconds: number;
};

const folderOf = ({ workspace_id, report_id }: ClaimableReport): string =>
  `reports/${workspace_id}/${report_id}`;

/** The clock of Postgres, since hosts differ: a fast one would take over running exports. */
const leaseNow = async ({ db, leaseClock }: ReportExports): Promise<string> => {
  if (leaseClock !== undefined) return leaseClock.now().toISOString();
  const rows = await db.query<{ now: Date }>({ sql: 'select clock_timestamp() as now', values: [] });
  return (rows[0] as { now: Date }).now.toISOString();
};

type Claimed = ClaimableReport & { readonly state: RequestedReport };

const decide = async (
  { eventStore, workerId }: ReportExports,
  { workspace_id, report_id }: ClaimableReport,
  decision: (state: ReportState) => readonly ReportEvent[],
): Promise<{ readonly state: ReportState; readonly events: readonly ReportEvent[] }> => {
  const commandId = randomUUID();
  const metadata = eventMetadata({
    actor: serviceActor(workerId),
    correlationId: report_id,
    causationId: commandId,
    requestId: commandId,
    workspaceId: workspace_id,
  });
  const stream = reportStream(workspace_id, report_id);
  return executeCommand(eventStore, { stream, decider: report, decision, metadata, commandId });
};

/** Appends at the expected revision, so only one worker succeeds. Returns `null` for all others. */
const claim = async (dependencies: ReportExports, found: ClaimableReport): Promise<Claimed | null> => {
  const { workerId: worker_id, leaseSeconds: lease_seconds, log } = dependencies;
  const decision = startReport({ worker_id, at: await leaseNow(dependencies), lease_seconds });
  const { state, events } = await decide(dependencies, found, decision);
  const [event] = events;
  if (event?.type === 'ReportFailed') {
    log.warn({ report_id: found.report_id }, 'report failed; no attempts left');
    await dependencies.objectStore.removeAllBut(folderOf(found), null);
  }
  return event?.type === 'ReportStarted' && state ? { ...found, state } : null;
};

/** Renews the lease until disposed. Aborts the export when the lease is lost. */
const startLeaseRenewal = (
  dependencies: ReportExports,
  claimed: Claimed,
  lost: AbortController,
): Disposable => {
  const { workerId: worker_id, leaseSeconds: lease_seconds, log } = dependencies;
  const { attempt } = claimed.state;
  const extend = async (): Promise<void> => {
    const at = await leaseNow(dependencies);
    const decision = extendReportLease({ worker_id, attempt, at, lease_seconds });
    const { state } = await decide(dependencies, claimed, decision);
    if (state?.attempt !== attempt) lost.abort(new Error('The report was taken over by another worker.'));
  };
  const timer = setInterval(
    () => {
      extend().catch((error: unknown) => log.warn({ err: error }, 'report lease renewal failed'));
    },
    (lease_seconds * 1_000) / EXTENSIONS_PER_LEASE,
  );
  return { [Symbol.dispose]: () => clearInterval(timer) };
};

const failureReason = (error: unknown): string => {
  const { code, syscall } = error as { code?: string; syscall?: string };
  if (code === 'ENOSPC') return 'Not enough storage space for the file.';
  if (syscall !== undefined && code !== undefined && /^(open|write|mkdir|rename|fsync)$/.test(syscall)) {
    return `The file could not be written (${code}).`;
  }
  return 'The radar could not be read to its end.';
};

const exportReport = async (dependencies: ReportExports, claimed: Claimed): Promise<void> => {
  const { db, objectStore, clock, log, signal, workerId: worker_id } = dependencies;
  const { report_id, state } = claimed;
  const { attempt } = state;
  // A separate object per attempt: a late attempt after a takeover cannot damage the next one.
  const object_key = `${folderOf(claimed)}/attempt-${attempt}.csv`;
  const lost = new AbortController();
  try {
    using _ = startLeaseRenewal(dependencies, claimed, lost);
    const either = AbortSignal.any([signal, lost.signal]);
    const { rows, bytes, sha256 } = await exportRadar(db, objectStore, state.request, object_key, either);
    const at = clock.now().toISOString();
    const finish = finishReport({ worker_id, attempt, object_key, bytes, rows, sha256, at });
    const finished = await decide(dependencies, claimed, finish);
    const outcome = finished.state;
    if (outcome?.status === 'ready' || outcome?.status === 'failed') {
      await objectStore.removeAllBut(folderOf(claimed), outcome.file?.object_key ?? null);
    }
    if (finished.events.length > 0) log.info({ report_id, attempt, rows, bytes }, 'report ready');
    else log.warn({ report_id, attempt }, 'report taken over by another worker');
  } catch (error) {
    // Shutdown or takeover: the lease expires, and the next worker starts again.
    if (signal.aborted || lost.signal.aborted) return;
    log.error({ err: error, report_id, attempt }, 'report failed');
    const at = clock.now().toISOString();
    await decide(dependencies, claimed, failReport({ worker_id, attempt, reason: failureReason(error), at }));
  }
};

/** Includes reports that another worker left unfinished. */
export const exportReports = async (dependencies: ReportExports): Promise<void> => {
  const { db, log, signal } = dependencies;
  while (!signal.aborted) {
    try {
      const now = dependencies.leaseClock?.now().toISOString() ?? null;
      const waiting = await listClaimableReports(db, now, REPORTS_PER_POLL_MAX);
      for (const found of waiting) {
        if (signal.aborted) return;
        const claimed = await claim(dependencies, found);
        if (claimed) await exportReport(dependencies, claimed);
      }
    } catch (error) {
      if (!signal.aborted) {
        log.warn({ reason: (error as Error).message }, 'polling for reports failed; retrying');
      }
    }
    await pause(POLL_INTERVAL_MS, signal);
  }
};
