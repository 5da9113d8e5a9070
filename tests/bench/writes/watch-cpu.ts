import { cpuTimes, type CpuTimes, usedSince } from '../cpu-time.ts';

/** Whose processor time a write takes, by name. */
export type Processes = Readonly<Record<string, Parameters<typeof cpuTimes>[0]>>;

/** Processor time of each process since it was asked the first time, by write, in words. */
export async function watchCpu(processes: Processes): Promise<(writes: number) => Promise<string>> {
  const timesOf = () => Promise.all(Object.values(processes).map(cpuTimes));
  const before = await timesOf();
  return async (writes) => {
    const after = await timesOf();
    const usedMs = after.map((times, place) => usedSince(before[place] as CpuTimes, times) / writes);
    return Object.keys(processes)
      .map((name, place) => `${name} ${usedMs[place]?.toFixed(3)}`)
      .join(', ');
  };
}
