import { readdir, readFile } from 'node:fs/promises';

/** Duration of one clock tick, the unit in which Linux counts CPU time. */
const TICK_MS = 10;

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
}

/** CPU time of each process so far, in milliseconds. Empty on systems without /proc. */
export type CpuTimes = ReadonlyMap<number, number>;

export async function cpuTimes(belongs: (stat: ProcessStat) => boolean): Promise<CpuTimes> {
  const names = await readdir('/proc').catch(() => []);
  const times = new Map<number, number>();
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => null);
    if (text === null) continue;
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const stat = { pid: Number(name), parent: Number(fields[1]) };
    if (belongs(stat)) times.set(stat.pid, (Number(fields[11]) + Number(fields[12])) * TICK_MS);
  }
  return times;
}

/** Returns the CPU time used between two samples. Processes that ended in between are not counted. */
export function usedSince(before: CpuTimes, after: CpuTimes): number {
  let used = 0;
  for (const [pid, ms] of after) used += ms - (before.get(pid) ?? 0);
  return used;
}

/** Returns the peak memory of a process in MiB, or NaN on systems without /proc. */
export async function peakMemoryMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}
