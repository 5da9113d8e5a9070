import type { Lease } from '#platform/postgres/lease/leases.ts';
import { FINGERPRINT_FORMAT, fingerprintOf } from '#projections/schema-fingerprint.ts';
import type { Projection } from '#projections/define-projection.ts';
import { createLiveTables, openLiveTarget } from '../apply/checkpoints.ts';
import { readParkedStreams, requestReadableRetries } from '../apply/park-stream.ts';
import type { BehindRow, Cursor, Running } from '../apply/running.ts';
import type { ProjectorDependencies } from '../dependencies.ts';
import { arrangePart, readRows, type StoredRow, type StoredRows, type Treatment } from './arrange-part.ts';
import { apartLease, buildLease, PROJECTIONS } from './lease-names.ts';
import type { Control } from './operator-requests.ts';
import { isOnProbation, type Probation, probationAfter } from './probation.ts';

/** The tables of a new projection are filled by a rebuild if the log is longer, because a rebuild is many times faster. */
const FIRST_FILL_LIVE_BYTES = 16n * 1024n * 1024n;

export type Arrangement = {
  readonly following: readonly Running[];
  /** `null` while another process owns the part. */
  readonly cursor: Cursor | null;
};

/** Projections that this process may write: all of its part, or single ones that the owner's release cannot follow. */
export type ProjectionAssignments = {
  readonly names: ReadonlySet<string>;
  /** Projections whose tables belong to this code. */
  readonly running: ReadonlyMap<string, Running>;
  /** Acquires free leases. Returns true if it acquired any. */
  acquire(control: ReadonlyMap<string, Control>): Promise<boolean>;
  open(control: ReadonlyMap<string, Control>): Promise<void>;
  /** Decides which projections follow the log. Jobs use the tables of the `exclusive` ones. */
  arrange(control: ReadonlyMap<string, Control>, exclusive: ReadonlySet<string>): Promise<Arrangement>;
  /** The row that proves a job's right to write; `null` without that right. */
  rowOf(name: string): BehindRow | null;
  hasServedProbation(): boolean;
  close(name: string): void;
  lost(): AbortSignal;
};

export const createProjectionAssignments = (dependencies: ProjectorDependencies): ProjectionAssignments => {
  const { database, eventStore, leases, projections, log, probationFirstMs } = dependencies;
  const byName = new Map(projections.map((one) => [one.name, one]));
  const running = new Map<string, Running>();
  const apart = new Map<string, Lease>();
  /** Probations of closed projections, for their reopening. */
  const probations = new Map<string, Probation | null>();
  const reportedNewer = new Set<string>();
  let part: Lease | null = null;
  let names: ReadonlySet<string> = new Set();
  let rows: StoredRows = new Map();

  /** Clears a stale `wanted_version` of a newer process that has died. */
  const isWantedByNewerProcess = async ({ name, version }: Projection, row: Control): Promise<boolean> => {
    const { wantedVersion } = row;
    if (wantedVersion === null || wantedVersion <= version) return false;
    if (await leases.isHeld(buildLease(name))) return true;
    await database.query(
      'update projector.read_model set wanted_version = null where name = $1 and wanted_version = $2',
      [name, wantedVersion],
    );
    return false;
  };

  const mayAcquire = async (projection: Projection, row: Control): Promise<boolean> => {
    const { name, version } = projection;
    if (await isWantedByNewerProcess(projection, row)) return false;
    if (row.version <= version || row.build?.state === 'asked') return true;
    if (!reportedNewer.has(name)) {
      reportedNewer.add(name);
      log.error(
        { projection: name, tables: row.version, code: version },
        'tables newer than this code; left unchanged; after a rollback, request a rebuild',
      );
    }
    return false;
  };

  const openOne = async (projection: Projection): Promise<void> => {
    const { name, version, prefixes } = projection;
    const target = await openLiveTarget(database, projection);
    const { rows: opened } = await database.query<{ state: string; fingerprint: string }>(
      `update projector.read_model set prefixes = $2,
         fingerprint = case when starts_with(fingerprint, $4) then fingerprint else $3 end
       where name = $1 returning state, fingerprint`,
      [name, prefixes, fingerprintOf(projection), FINGERPRINT_FORMAT],
    );
    const [row] = opened;
    if (row?.fingerprint !== fingerprintOf(projection)) {
      log.warn({ projection: name, version }, 'schema or statements changed without a new version');
    }
    const retried = await requestReadableRetries(database, name);
    if (retried > 0)
      log.info({ projection: name, streams: retried }, 'streams that waited for this release retried');
    const parked = await readParkedStreams(database, name);
    const live = row?.state === 'live';
    running.set(name, {
      target,
      prefixes,
      parked,
      live,
      position: 0n,
      row: null,
      failures: 0,
      retryAtMs: 0,
      probation: probations.get(name) ?? null,
      readsAlone: false,
    });
    log.info({ projection: name, version }, 'projection acquired');
  };

  const treatmentOf = (name: string, row: Control, exclusive: ReadonlySet<string>): Treatment => {
    if (!names.has(name) || row.version !== byName.get(name)?.version) return 'apart';
    if (exclusive.has(name)) return 'exclusive';
    if (row.isPaused) return 'paused';
    return isOnProbation(running.get(name)?.probation ?? null, performance.now()) ? 'alone' : 'follow';
  };

  /** A projection that failed in an earlier session starts on probation. */
  const place = (
    one: Running,
    treatment: 'follow' | 'alone',
    row: StoredRow | undefined,
    cursor: Cursor | null,
  ): void => {
    one.row = row ? { position: row.position, epoch: row.epoch } : null;
    one.position = row?.position ?? cursor?.position ?? 0n;
    if (row?.waitMs == null) one.failures = 0;
    else {
      one.failures = Math.max(1, one.failures);
      one.retryAtMs = performance.now() + row.waitMs;
      one.probation ??= probationAfter(null, false, performance.now(), probationFirstMs);
    }
    one.readsAlone = treatment === 'alone' || one.failures > 0;
  };

  /** True when this process may move the row. */
  const isOurs = (name: string, row: StoredRow | undefined): boolean => {
    if (row?.state === 'apart') return row.epoch === -(apart.get(name)?.epoch ?? 0n);
    return part !== null && (row === undefined || row.epoch === part.epoch);
  };

  const releaseApart = async (name: string): Promise<void> => {
    const lease = apart.get(name);
    apart.delete(name);
    if (lease) await leases.release(lease);
  };

  const acquireApart = async (name: string): Promise<boolean> => {
    const lease = await leases.acquire(apartLease(name), (client, epoch) =>
      client.query(
        `update projector.behind set epoch = -$2::bigint where projection = $1 and state = 'apart'`,
        [name, epoch],
      ),
    );
    if (lease) apart.set(name, lease);
    return lease !== null;
  };

  const acquirePart = async (): Promise<boolean> => {
    part = await leases.acquire(PROJECTIONS, (client, epoch) =>
      client.query('update projector.behind set epoch = $2 where part = $1 and epoch >= 0', [
        PROJECTIONS.part,
        epoch,
      ]),
    );
    if (part) log.info({ epoch: String(part.epoch) }, 'projections acquired');
    return part !== null;
  };

  return {
    get names() {
      return names;
    },
    running,
    acquire: async (control) => {
      let isAny = part === null && (await acquirePart());
      const allowed = new Set<string>();
      for (const projection of projections) {
        const { name } = projection;
        const row = control.get(name);
        if (row && !(await mayAcquire(projection, row))) await releaseApart(name);
        else if (row?.behind !== 'apart') allowed.add(name);
        else {
          if (!apart.has(name) && (await acquireApart(name))) isAny = true;
          if (apart.has(name)) allowed.add(name);
        }
      }
      names = part === null ? new Set(apart.keys()) : allowed;
      return isAny;
    },
    open: async (control) => {
      const isNew = ({ name }: Projection): boolean => !control.has(name) && names.has(name);
      const isLong =
        part !== null && projections.some(isNew) && (await eventStore.head()) > FIRST_FILL_LIVE_BYTES;
      for (const projection of projections) {
        if (isLong && isNew(projection)) {
          await createLiveTables(database, projection, 0);
          continue;
        }
        const { name, version } = projection;
        const row = control.get(name);
        if (running.has(name) && row?.version !== version) running.delete(name);
        if (!names.has(name) || running.has(name)) continue;
        if (row ? row.version === version : part !== null) await openOne(projection);
      }
    },
    arrange: async (control, exclusive) => {
      const treatments = new Map(
        [...control].map(([name, row]) => [name, treatmentOf(name, row, exclusive)]),
      );
      let cursor: Cursor | null = null;
      if (part === null) rows = await readRows(database);
      else {
        const arranged = await arrangePart(database, part, leases.owner, treatments);
        ({ rows } = arranged);
        cursor = { epoch: part.epoch, position: arranged.position };
      }
      // Another process holds these now, or the part includes them again.
      for (const name of apart.keys()) if (!isOurs(name, rows.get(name))) await releaseApart(name);
      const following: Running[] = [];
      for (const [name, one] of running) {
        const row = rows.get(name);
        const treatment = treatments.get(name);
        if ((treatment !== 'follow' && treatment !== 'alone') || !isOurs(name, row)) {
          one.readsAlone = false;
          continue;
        }
        place(one, treatment, row, cursor);
        following.push(one);
      }
      return { following, cursor };
    },
    rowOf: (name) => {
      const row = rows.get(name);
      return row !== undefined && isOurs(name, row) ? row : null;
    },
    hasServedProbation: () =>
      [...running.values()].some(
        ({ readsAlone, failures, probation }) =>
          readsAlone && failures === 0 && !isOnProbation(probation, performance.now()),
      ),
    close: (name) => {
      probations.set(name, running.get(name)?.probation ?? null);
      running.delete(name);
    },
    lost: () => AbortSignal.any([part, ...apart.values()].flatMap((lease) => (lease ? [lease.lost] : []))),
  };
};
