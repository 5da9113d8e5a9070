import { type History, type Read, type Shown, tellShown, type Write } from './history.ts';
import { shrink } from './shrink.ts';

/** Streams at the end: records and positions for each number of events. */
export type FinalStreams = { readonly prefixes: readonly Shown[]; readonly positions: readonly bigint[] };

const tell = (read: Read, reason: string): string =>
  `caller ${read.caller}, read of ${read.sentMs} to ${read.endedMs}: ${reason}; shown: ${tellShown(read.shown)}`;

/** Compares as if the read showed all events of the prefix. */
const fits = ({ shown, isWhole }: Read, prefix: Shown): boolean =>
  (!isWhole || shown.size === prefix.size) && [...shown].every(([id, text]) => prefix.get(id) === text);

/**
 * Checks read-your-writes and monotonic reads. The shortest prefix explains a read, so a later read is refused only if
 * none fits.
 */
export const brokenReads = (
  { writes, reads }: History,
  { prefixes, positions }: FinalStreams,
): readonly string[] => {
  const broken: string[] = [];
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

/** Fewer calls demand less, so what stays broken was broken with all. `history` has a broken read. */
export const smallestBroken = ({ writes, reads }: History, streams: FinalStreams): History => {
  const calls: readonly (Write | Read)[] = [...writes, ...reads];
  const historyOf = (part: readonly (Write | Read)[]): History => ({
    writes: part.filter((call) => 'operation' in call),
    reads: part.filter((call) => 'shown' in call),
  });
  return historyOf(shrink(calls, (part) => brokenReads(historyOf(part), streams).length > 0));
};
