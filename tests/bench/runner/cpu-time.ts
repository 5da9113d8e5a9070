import { readdir, readFile } from 'node:fs/promises';

/** Clock tick, the unit in which Linux counts CPU time. */
const TICK_MS = 10;
const READINGS_MAX = 10;

type Stat = { readonly parent: number; readonly ms: number };

/** CPU time by process id. Empty on systems without /proc. */
const readStats = async (): Promise<ReadonlyMap<number, Stat>> => {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = new Map<number, Stat>();
  for (const name of names) {
    const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => null);
    if (text === null) continue;
    // The fields after the name: state, parent, then from the twelfth on user and system time, own and of ended children.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    stats.set(Number(name), { parent: Number(fields[1]), ms: ticks * TICK_MS });
  }
  return stats;
};

const treeOf = (stats: ReadonlyMap<number, Stat>, root: number): readonly number[] => [
  root,
  ...[...stats].flatMap(([pid, { parent }]) => (parent === root ? treeOf(stats, pid) : [])),
];

export const processTree = async (root: number): Promise<readonly number[]> =>
  treeOf(await readStats(), root);

/** Includes children, such as sessions of Postgres. The returned function gives milliseconds used since. */
export const watchCpu = async <Name extends string>(
  processes: Readonly<Record<Name, number>>,
): Promise<() => Promise<Readonly<Record<Name, number>>>> => {
  const roots = Object.entries(processes) as [Name, number][];
  const pidsOf = (stats: ReadonlyMap<number, Stat>): string =>
    roots.flatMap(([, pid]) => treeOf(stats, pid)).join();
  const read = async (): Promise<readonly (readonly [Name, number])[]> => {
    let stats = await readStats();
    // The time of a child that ends between the reading of its parent and its own would be in neither.
    for (let attempt = 0; attempt < READINGS_MAX; attempt += 1) {
      const before = pidsOf(stats);
      stats = await readStats();
      if (pidsOf(stats) === before) break;
    }
    return roots.map(([name, pid]) => [
      name,
      treeOf(stats, pid).reduce((sum, one) => sum + (stats.get(one)?.ms ?? 0), 0),
    ]);
  };
  const before = await read();
  return async () => {
    const after = await read();
    return Object.fromEntries(
      after.map(([name, ms], index) => [name, ms - (before[index]?.[1] ?? 0)]),
    ) as Record<Name, number>;
  };
};

export const sumCpu = (used: Readonly<Record<string, number>>): number =>
  Object.values(used).reduce((sum, ms) => sum + ms, 0);

/** NaN on systems without /proc. */
export async function peakMemoryMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}
