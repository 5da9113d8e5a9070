import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';

const FRAME_BYTES = 1_000;

export const observationParts = <Item>(items: readonly Item[], maxItems: number): readonly Item[][] => {
  const parts: Item[][] = [];
  let part: Item[] = [];
  let bytes = FRAME_BYTES;
  for (const item of items) {
    const size = new TextEncoder().encode(JSON.stringify(item)).length + 1;
    const full = part.length >= maxItems || bytes + size > OBSERVATION_MAX_BYTES;
    if (part.length > 0 && full) {
      parts.push(part);
      part = [];
      bytes = FRAME_BYTES;
    }
    part.push(item);
    bytes += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
};
