import { pause } from '#platform/clock.ts';
import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { isConnectionFault } from '#platform/event-store/errors.ts';

/** Consecutive connection faults without an event after which a read stops. */
const FAULTS_MAX = 12;
const FAULT_PAUSE_MS = 500;

/** Reads a log to its current end. Reconnects after lost connections. */
export async function* readOn(log: RawLog, after: bigint | null): AsyncGenerator<RawEvent> {
  let reached = after;
  let faults = 0;
  for (;;) {
    try {
      for await (const event of log.forwards(reached)) {
        yield event;
        reached = event.position;
        faults = 0;
      }
      return;
    } catch (error) {
      faults += 1;
      if (!isConnectionFault(error) || faults >= FAULTS_MAX) throw error;
      await pause(FAULT_PAUSE_MS * faults);
    }
  }
}
