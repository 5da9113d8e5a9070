import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root. */
const SYSTEM_USER = 'postgres';

/** Runs PostgreSQL; `null` is the current user. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** `null` for an ordinary user. For root, an unprivileged system user, created when missing. */
export async function findOrCreateAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const found = await findAccount(SYSTEM_USER);
  if (found !== null) return found;
  try {
    await run('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      SYSTEM_USER,
    ]);
  } catch (cause) {
    throw new Error(
      `PostgreSQL does not run as root, and the system user "${SYSTEM_USER}" could not be created. ` +
        `Create it (useradd --system ${SYSTEM_USER}) or start as an ordinary user.`,
      { cause },
    );
  }
  const created = await findAccount(SYSTEM_USER);
  if (created === null) throw new Error(`The system user "${SYSTEM_USER}" was created but cannot be found.`);
  return created;
}

async function findAccount(name: string): Promise<Account | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

/** Throws an error with the command that helps. Never changes the mode of folders that are not ours. */
export async function assertReachable(path: string, account: Account | null, what: string): Promise<void> {
  if (account === null) return;
  for (const folder of parentsOf(path)) {
    const { mode, uid, gid } = await stat(folder);
    const executeBit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & executeBit) !== 0) continue;
    throw new Error(
      `PostgreSQL runs as the system user "${account.name}" because this process is root, but that user may not enter ` +
        `${folder}, which leads to ${what} at ${path}. Allow it with "chmod o+x ${folder}", put the project ` +
        'and its data elsewhere, or start as an ordinary user.',
    );
  }
}

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  let folder = dirname(resolve(path));
  while (folder !== dirname(folder)) {
    parents.unshift(folder);
    folder = dirname(folder);
  }
  return parents;
}
