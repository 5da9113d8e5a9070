import { type History, type Read, type Shown, tellShown, type Write } from './history.ts';
import { shrink } from './shrink.ts';

/** The streams of one kind at the end: what each number of their events leaves, and the position of each event. */
export type FinalStreams = { readonly prefixes: readonly Shown[]; readonly positions: readonly bigint[] };

const tell = (read: Read, reason: string): string =>
  `caller ${read.caller}, read of ${read.sentMs} to ${read.endedMs}: ${reason}; shown: ${tellShown(read.shown)}`;

/** True when a read that shows all events of the prefix would show the same. */
const fits = ({ shown, isWhole }: Read, prefix: Shown): boolean =>
  (!isWhole || shown.size === prefix.size) && [...shown].every(([id, text]) => prefix.get(id) === text);

/**
 * Returns a line for each read that does not show the streams as they once were, or shows less than its caller wrote or
 * read before (read-your-writes, monotonic reads). Each read is explained by the shortest prefix, so a later read of the
 * caller is refused only if none fits.
 */
export const brokenReads = (
  { writes, reads }: History,
  { prefixes, positions }: FinalStreams,
): readonly string[] => {
  const broken: string[] = [];
  /** Number of events up to a position. */
  const eventsUpTo = (position: bigint): number => {
    const place = positions.findIndex((one) => one > position);
    return place === -1 ? positions.length : place;
  };
  for (const [caller, own] of Map.groupBy(reads, (read) => read.caller)) {
    let shownBefore = 0;
    const written = writes.filter((write) => write.caller === caller);
    for (const read of own) {
      const wroteBefore = Math.max(
        0,
        ...written
          .filter(({ endedMs, position }) => endedMs <= read.sentMs && position !== null)
          .map(({ position }) => eventsUpTo(position ?? 0n)),
      );
      const least = Math.max(shownBefore, wroteBefore);
      const found = prefixes.findIndex((prefix, events) => events >= least && fits(read, prefix));
      if (found !== -1) shownBefore = found;
      else if (!prefixes.some((prefix) => fits(read, prefix)))
        broken.push(tell(read, 'the stream was never like this'));
      else {
        const reason = shownBefore > wroteBefore ? 'read more before' : 'wrote more before';
        broken.push(tell(read, `the caller ${reason}, ${least} events`));
      }
    }
  }
  return broken;
};

/**
 * Returns the fewest calls found that still hold a broken read: mostly that read, with the one call of its caller that it
 * contradicts. Each call only demands that later reads show more, so what is broken with fewer of them was broken with all.
 * `history` has a broken read.
 */
export const smallestBroken = ({ writes, reads }: History, streams: FinalStreams): History => {
  const calls: readonly (Write | Read)[] = [...writes, ...reads];
  const historyOf = (part: readonly (Write | Read)[]): History => ({
    writes: part.filter((call) => 'operation' in call),
    reads: part.filter((call) => 'shown' in call),
  });
  return historyOf(shrink(calls, (part) => brokenReads(historyOf(part), streams).length > 0));
};
