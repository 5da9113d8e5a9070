import { cpuTimes, type CpuTimes, usedSince } from '../cpu-time.ts';

/** Predicates that select the processes to measure, by name. */
export type Processes = Readonly<Record<string, Parameters<typeof cpuTimes>[0]>>;

/**
 * Starts measuring CPU time. The returned function formats the milliseconds per write of each process since then.
 */
export async function watchCpu(processes: Processes): Promise<(writes: number) => Promise<string>> {
  const readTimes = () => Promise.all(Object.values(processes).map(cpuTimes));
  const before = await readTimes();
  return async (writes) => {
    const after = await readTimes();
    const usedMs = after.map((times, index) => usedSince(before[index] as CpuTimes, times) / writes);
    return Object.keys(processes)
      .map((name, index) => `${name} ${usedMs[index]?.toFixed(3)}`)
      .join(', ');
  };
}
