import { DAY_MS } from '#contracts/values/time.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { type DemoState, fedToMs, writeDemoState } from '../demo-state.ts';
import type { LivingWorld } from './living-world.ts';
import { observationsBetween, scansOfTracked } from './observations-between.ts';
import type { SendPart } from './send-part.ts';

/**
 * Sends day by day up to `toMs`, with a last scan of the tracked brands. A killed process repeats a part, because its
 * end is stored after it is recorded; ingest records each observation once.
 */
export const feedWorld = async (
  send: SendPart,
  living: LivingWorld,
  state: DemoState,
  stateFile: string,
  toMs: number,
  signal: AbortSignal,
  onProgress: (fedMs: number) => void = () => undefined,
): Promise<DemoState> => {
  const isLiving = living.scanEveryMs > 0;
  let fed = state;
  for (let fromMs = fedToMs(state, isLiving); fromMs < toMs; ) {
    const partMs = Math.min(toMs, (Math.floor(fromMs / DAY_MS) + 1) * DAY_MS);
    const part = function* (): Generator<Observation> {
      yield* observationsBetween(living, fromMs, partMs);
      if (isLiving && partMs === toMs) yield* scansOfTracked(living, partMs);
    };
    await send(part(), signal, () => onProgress(partMs));
    fed = { ...fed, fed_to: new Date(partMs).toISOString() };
    await writeDemoState(stateFile, fed);
    fromMs = partMs;
  }
  return fed;
};
