import { DAY_MS } from '#contracts/values/time.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { type DemoState, fedToMs, writeDemoState } from '../demo-state.ts';
import type { LivingWorld } from './living-world.ts';
import { observationsBetween, scansOfTracked } from './observations-between.ts';
import type { SendPart } from './send-part.ts';

/**
 * Sends what happened since the state's time, day by day, up to `toMs`, and a scan of the tracked brands at that
 * time. Returns the new state. A part is recorded before its end is stored, so a killed process repeats a part: its
 * observations are the same, and each is recorded once.
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
