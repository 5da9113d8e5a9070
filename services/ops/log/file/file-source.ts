import { portableHash } from '../transfer/portable-event.ts';
import type { LogSource } from '../transfer/log-source.ts';
import { diverged, TAIL_EVENTS } from '../transfer/target-tail.ts';
import { checkLogFile, readLogFile } from './read-log-file.ts';

/** Compares the newest hashes with the wanted ones, in a window of the same length. */
const createMatcher = (wanted: readonly string[]) => {
  let seen: string[] = [];
  return {
    add: (hash: string): void => {
      seen.push(hash);
      if (seen.length >= 2 * TAIL_EVENTS) seen = seen.slice(-TAIL_EVENTS);
    },
    isMatch: (): boolean => {
      const last = seen.slice(-wanted.length);
      return last.length === wanted.length && last.every((hash, index) => hash === wanted[index]);
    },
  };
};

/** Checks the file to its end before the first event is copied. */
export const fileSource = (file: string, onChecked?: (events: number) => void): LogSource => {
  let total: number | null = null;
  let done = 0;
  return {
    after: async function* (tail) {
      total ??= await checkLogFile(file, onChecked);
      done = 0;
      const [newest] = tail;
      const matcher = createMatcher(tail.map(({ hash }) => hash).toReversed());
      let isFound = newest === undefined;
      for await (const event of readLogFile(file)) {
        done += 1;
        if (isFound) {
          yield event;
          continue;
        }
        const hash = portableHash(event);
        matcher.add(hash);
        if (!newest || hash !== newest.hash) continue;
        // A tail below its maximum length is the whole target.
        const isWhole = tail.length === TAIL_EVENTS || done === tail.length;
        if (!isWhole || !matcher.isMatch()) throw diverged(newest);
        isFound = true;
      }
      if (!isFound && newest) throw diverged(newest);
    },
    shareDone: () => (total === null || total === 0 ? null : Math.min(1, done / total)),
  };
};
