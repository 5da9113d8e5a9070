import type { Collector } from '#application/collectors/collector-keys.ts';
import { validateObservation } from '#application/observations/validate-observation.ts';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { RefusedLine } from '#contracts/intake/replies.ts';
import { OBSERVATION_MAX_BYTES, OBSERVATION_TYPES, type Observation } from '#contracts/observations/index.ts';
import type { Line } from './read-lines.ts';

export type CheckedLine =
  | {
      readonly outcome: 'valid';
      readonly line: Line;
      readonly input: unknown;
      readonly observation: Observation;
    }
  | { readonly outcome: 'refused'; readonly refused: RefusedLine }
  | { readonly outcome: 'not_granted'; readonly detail: ErrorDetail };

/** Rejects invalid UTF-8: a replacement character would be stored as text of an ad. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

const collectorOf = (observation: Observation): { readonly path: string; readonly name: string } | null => {
  switch (observation.type) {
    case 'ad_library.scan_end':
      return { path: 'coverage.collector', name: observation.coverage.collector };
    case 'storefront.scan_end':
    case 'site.scan':
      return { path: 'collector', name: observation.collector };
    case 'ad_library.scan':
    case 'brand.profile':
    case 'category.define':
    case 'creative.analysis':
    case 'creative.file':
    case 'landing_page.classify':
    case 'landing_page.scrape':
    case 'operator.record':
    case 'social_page.link':
    case 'social_page.profile':
    case 'storefront.scan':
    case 'traffic.estimate':
      return null;
  }
};

const parse = (bytes: Buffer): { readonly input: unknown } | Omit<RefusedLine, 'line'> => {
  if (bytes.length > OBSERVATION_MAX_BYTES) {
    const message = `The observation is larger than ${OBSERVATION_MAX_BYTES} bytes. Send smaller chunks.`;
    return { path: '', code: 'too_large', message };
  }
  try {
    return { input: JSON.parse(UTF8.decode(bytes)) as unknown };
  } catch {
    const message = 'The line is not a JSON object in UTF-8. Send one JSON object per line.';
    return { path: '', code: 'not_json', message };
  }
};

const typeOf = (input: unknown): string | null => {
  const type = typeof input === 'object' && input !== null ? (input as { type?: unknown }).type : null;
  return typeof type === 'string' && (OBSERVATION_TYPES as readonly string[]).includes(type) ? type : null;
};

export const checkLine = (line: Line, { name, types }: Collector): CheckedLine => {
  const refuse = (fault: Omit<RefusedLine, 'line'>): CheckedLine => ({
    outcome: 'refused',
    refused: { line: line.number, ...fault },
  });
  const parsed = parse(line.bytes);
  if (!('input' in parsed)) return refuse(parsed);
  const { input } = parsed;
  const type = typeOf(input);
  if (type !== null && types !== null && !types.has(type)) {
    const message = `This key may not send \`${type}\`. Leave it out, or ask the operator for a key with this type.`;
    return {
      outcome: 'not_granted',
      detail: { path: `lines.${line.number}.type`, message, code: 'type_not_granted' },
    };
  }
  let observation: Observation;
  try {
    observation = validateObservation(input);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const [first] = error.details;
    const more = error.details.length > 1 ? ` (and ${error.details.length - 1} more)` : '';
    return refuse({
      path: first?.path ?? '',
      code: first?.code ?? 'invalid',
      message: `${first?.message ?? error.message}${more}`,
    });
  }
  const collector = collectorOf(observation);
  if (collector !== null && !collector.name.startsWith(name)) {
    const message = `The collector of a scan begins with the name of the key, "${name}".`;
    return refuse({ path: collector.path, code: 'collector_name', message });
  }
  return { outcome: 'valid', line, input, observation };
};
