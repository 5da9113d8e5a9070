import { FINGERPRINT_FORMAT, fingerprintOf } from '#projections/schema-fingerprint.ts';
import type { Projection } from '#projections/define-projection.ts';
import type { Running } from '../apply/batch-dispatcher.ts';
import { openLiveTarget, readCheckpoint } from '../apply/checkpoints.ts';
import type { Control } from './operator-requests.ts';
import { readParkedStreams, requestReadableRetries } from '../apply/park-stream.ts';
import { PROCESS_NAME, type ProjectorDependencies } from '../dependencies.ts';

/**
 * The projections whose leader lock this process holds, and those of them whose tables its code may write.
 */
export type ProjectionAssignments = {
  readonly names: ReadonlySet<string>;
  readonly running: ReadonlyMap<string, Running>;
  /** Acquires every unowned projection. Returns true if at least one was acquired. */
  acquireUnowned(control: ReadonlyMap<string, Control>): Promise<boolean>;
  /** Releases projections for which a newer version is ready to take over. */
  releaseSuperseded(control: ReadonlyMap<string, Control>): Promise<void>;
  /** Opens the tables of every acquired projection that is not open yet. */
  open(): Promise<void>;
  /** Closes the tables of a projection, to be reopened after a swap or a retry of parked events. */
  close(name: string): void;
};

export const createProjectionAssignments = (dependencies: ProjectorDependencies): ProjectionAssignments => {
  const { database, ownership, projections, log } = dependencies;
  const names = new Set<string>();
  const running = new Map<string, Running>();
  const reportedNewer = new Set<string>();

  /** Clears a stale `wanted_version`: the newer process that requested this projection has died. */
  const isWantedByNewerProcess = async ({ name, version }: Projection, row: Control): Promise<boolean> => {
    if (row.wantedVersion === null || row.wantedVersion <= version) return false;
    if (!(await ownership.acquire(`build:${name}`))) return true;
    await database.query('update projector.projection set wanted_version = null where name = $1', [name]);
    await ownership.release(`build:${name}`);
    return false;
  };

  const mayAcquire = async (projection: Projection, row: Control | undefined): Promise<boolean> => {
    if (!row) return true;
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
    const before = await readCheckpoint(database, name);
    if (before && before.version !== version) return;
    const target = await openLiveTarget(database, projection);
    const { rows } = await database.query<{ position: string; state: string; fingerprint: string }>(
      `update projector.projection set prefixes = $2, owner = $3,
         fingerprint = case when starts_with(fingerprint, $5) then fingerprint else $4 end
       where name = $1 returning position::text, state, fingerprint`,
      [name, prefixes, PROCESS_NAME, fingerprintOf(projection), FINGERPRINT_FORMAT],
    );
    const [row] = rows;
    const position = BigInt(row?.position ?? 0);
    if (row?.fingerprint !== fingerprintOf(projection)) {
      log.warn({ projection: name, version }, 'schema or statements changed without a new version');
    }
    const retried = await requestReadableRetries(database, name);
    if (retried > 0)
      log.info({ projection: name, streams: retried }, 'streams that waited for this release retried');
    const parked = await readParkedStreams(database, name);
    running.set(name, { target, prefixes, parked, position, stored: position, live: row?.state === 'live' });
    log.info({ projection: name, version, position: String(position) }, 'projection acquired');
  };

  return {
    names,
    running,
    acquireUnowned: async (control) => {
      let isAny = false;
      for (const projection of projections) {
        const { name } = projection;
        if (names.has(name) || !(await mayAcquire(projection, control.get(name)))) continue;
        if (!(await ownership.acquire(name))) continue;
        names.add(name);
        isAny = true;
      }
      return isAny;
    },
    releaseSuperseded: async (control) => {
      for (const { name, version } of projections) {
        const wantedVersion = control.get(name)?.wantedVersion ?? null;
        if (!names.has(name) || wantedVersion === null || wantedVersion <= version) continue;
        names.delete(name);
        running.delete(name);
        await ownership.release(name);
        log.info(
          { projection: name, version, wanted: wantedVersion },
          'projection released to a newer process',
        );
      }
    },
    open: async () => {
      for (const projection of projections) {
        if (names.has(projection.name) && !running.has(projection.name)) await openOne(projection);
      }
    },
    close: (name) => void running.delete(name),
  };
};
