import { cleanText } from '#services/mcp/output/result.ts';

type Record_ = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Record_ =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const showsText = (shown: unknown, text: unknown): boolean => {
  if (Array.isArray(shown) && Array.isArray(text))
    return shown.every((one, index) => showsText(one, text[index]));
  if (typeof shown !== 'string' || typeof text !== 'string') return false;
  const cleaned = cleanText(text);
  return shown === cleaned || (shown.endsWith('…') && cleaned.startsWith(shown.slice(0, -1)));
};

/** Returns the paths at which a tool differs. Fields may be absent and lists shorter; shown values are the API's. */
export const differences = (shown: unknown, data: unknown, path = ''): readonly string[] => {
  if (Array.isArray(shown)) {
    if (!Array.isArray(data)) return [`${path}: a list`];
    if (shown.length > data.length) return [`${path}: ${shown.length} items of ${data.length}`];
    return shown.flatMap((one, index) => differences(one, data[index], `${path}[${index}]`));
  }
  if (isRecord(shown)) {
    if (!isRecord(data)) return [`${path}: an object`];
    return Object.entries(shown).flatMap(([field, value]) => {
      if (field === 'observed_cut') return [];
      if (field !== 'observed') return differences(value, data[field], `${path}.${field}`);
      return Object.entries(value as Record_)
        .filter(([name, text]) => !showsText(text, data[name]))
        .map(([name]) => `${path}.observed.${name}`);
    });
  }
  return shown === data || showsText(shown, data)
    ? []
    : [`${path}: ${JSON.stringify(shown)} is not ${JSON.stringify(data)}`];
};

export const wordsOutsideObserved = (value: unknown, words: string, path = ''): readonly string[] => {
  if (typeof value === 'string') return value.includes(words) ? [path] : [];
  if (Array.isArray(value))
    return value.flatMap((one, index) => wordsOutsideObserved(one, words, `${path}[${index}]`));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([field, one]) =>
    field === 'observed' ? [] : wordsOutsideObserved(one, words, `${path}.${field}`),
  );
};
