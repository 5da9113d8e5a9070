/** Estimate for a number, boolean or null, and for the punctuation around a value, as JSON. */
const VALUE_BYTES = 6;

/**
 * Estimates from the lengths of texts, because serialising costs as much as parsing. Texts outside ASCII count about
 * as much as they need in memory.
 */
export const approximateBytes = (data: unknown): number => {
  if (typeof data === 'string') return data.length + VALUE_BYTES;
  if (typeof data !== 'object' || data === null) return VALUE_BYTES;
  let bytes = VALUE_BYTES;
  if (Array.isArray(data)) {
    for (const item of data) bytes += approximateBytes(item);
    return bytes;
  }
  for (const name in data) bytes += name.length + approximateBytes((data as Record<string, unknown>)[name]);
  return bytes;
};
