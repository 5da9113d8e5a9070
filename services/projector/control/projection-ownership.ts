import { fingerprintOf } from '#projections/schema-fingerprint.ts';
import type { Projection } from '#projections/define-projection.ts';
import type { Running } from '../apply/batch-dispatcher.ts';
import { openLiveTarget, readCheckpoint } from '../apply/checkpoints.ts';
import type { Control } from './operator-requests.ts';
import { readParkedStreams } from '../apply/park-stream.ts';
import { PROCESS_NAME, type ProjectorDependencies } from '../dependencies.ts';

/** Which projections are this process's, and which of these have tables that its code writes. */
export type Owned = {
  readonly names: ReadonlySet<string>;
  readonly running: ReadonlyMap<string, Running>;
  /** Takes what nobody has; answers whether that was anything. */
  takeOver(control: ReadonlyMap<string, Control>): Promise<boolean>;
  /** Lets go of what a newer process is ready for. */
  giveUp(control: ReadonlyMap<string, Control>): Promise<void>;
  /** Opens the tables of all that are taken and not open yet. */
  open(): Promise<void>;
  /** Its tables are opened anew: another build, or other parked events. */
  close(name: string): void;
};

export const openOwned = (dependencies: ProjectorDependencies): Owned => {
  const { database, ownership, projections, log } = dependencies;
  const names = new Set<string>();
  const running = new Map<string, Running>();
  const told = new Set<string>();

  /** A newer process that waits for the projection and has died meanwhile is waited for no more. */
  const isWantedElsewhere = async ({ name, version }: Projection, row: Control): Promise<boolean> => {
    if (row.wantedVersion === null || row.wantedVersion <= version) return false;
    if (!(await ownership.acquire(`build:${name}`))) return true;
    await database.query('update projector.projection set wanted_version = null where name = $1', [name]);
    await ownership.release(`build:${name}`);
    return false;
  };

  const mayTake = async (projection: Projection, row: Control | undefined): Promise<boolean> => {
    if (!row) return true;
    const { name, version } = projection;
    if (await isWantedElsewhere(projection, row)) return false;
    if (row.version <= version || row.build?.state === 'asked') return true;
    if (!told.has(name)) {
      told.add(name);
      log.error(
        { projection: name, tables: row.version, code: version },
        'the tables are newer than this code, which leaves them alone; after a rollback, ask for a rebuild',
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
      `update projector.projection set prefixes = $2, owner = $3, fingerprint = coalesce(fingerprint, $4)
       where name = $1 returning position::text, state, fingerprint`,
      [name, prefixes, PROCESS_NAME, fingerprintOf(projection)],
    );
    const [row] = rows;
    const position = BigInt(row?.position ?? 0);
    if (row?.fingerprint !== fingerprintOf(projection)) {
      log.warn(
        { projection: name, version },
        'schema or statements were changed, and the version was not raised',
      );
    }
    const parked = await readParkedStreams(database, name);
    running.set(name, { target, prefixes, parked, position, stored: position, live: row?.state === 'live' });
    log.info({ projection: name, version, position: String(position) }, 'projection taken over');
  };

  return {
    names,
    running,
    takeOver: async (control) => {
      let isAny = false;
      for (const projection of projections) {
        const { name } = projection;
        if (names.has(name) || !(await mayTake(projection, control.get(name)))) continue;
        if (!(await ownership.acquire(name))) continue;
        names.add(name);
        isAny = true;
      }
      return isAny;
    },
    giveUp: async (control) => {
      for (const { name, version } of projections) {
        const wanted = control.get(name)?.wantedVersion ?? null;
        if (!names.has(name) || wanted === null || wanted <= version) continue;
        names.delete(name);
        running.delete(name);
        await ownership.release(name);
        log.info({ projection: name, version, wanted }, 'left to a newer process');
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
