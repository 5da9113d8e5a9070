import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks that Linux counts processor time in. */
const TICK_MS = 10;

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
}

/** Processor time of each process so far, in milliseconds. Empty where there is no /proc. */
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

/** Of processes that ended meanwhile nothing is known: their last moments count for nobody. */
export function usedSince(before: CpuTimes, after: CpuTimes): number {
  let used = 0;
  for (const [pid, ms] of after) used += ms - (before.get(pid) ?? 0);
  return used;
}

/** The most memory a process has held, in MiB. NaN where there is no /proc. */
export async function peakMemoryMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}
