import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { ClientBase } from 'pg';
import { socketOf } from './silence.ts';

/** Niceness of a server process for searches: above it, hot reads get a processor as soon as they need one. */
const SEARCH_NICENESS = 19;

/** `processID`, `user` and `database` of `pg` are not in its types. */
type Connected = ClientBase & {
  readonly processID: number | null;
  readonly user: string;
  readonly database: string;
};

/**
 * Lets other processes pass the server process of a connected client, where the server runs on this machine. PostgreSQL has
 * no priorities of its own, and on few processors two searches would hold up every hot read by slices of several
 * milliseconds. The title of the process must name user, database and port of this connection, so that no other process
 * can be meant: behind a pooler or a container, the number is that of another one. Without permission nothing changes.
 */
export const lowerServerPriority = (client: ClientBase): void => {
  const { processID, user, database } = client as Connected;
  const { localPort } = socketOf(client);
  const from = localPort === undefined ? '[local]' : `(${localPort})`;
  try {
    const title = readFileSync(`/proc/${processID}/cmdline`, 'utf8');
    const isOwn = title.startsWith(`postgres: ${user} ${database} `) && title.includes(`${from} `);
    if (isOwn && processID !== null) setPriority(processID, SEARCH_NICENESS);
  } catch {
    // Another machine or operating system, or a process of another user.
  }
};
