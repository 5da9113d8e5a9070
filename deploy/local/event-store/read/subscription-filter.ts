import { MalformedMessage } from '../wire/protobuf.ts';
import type { FilterOptions } from '../wire/read-codec.ts';
import type { StoredEvent } from '../model.ts';

export type EventFilter = (event: StoredEvent) => boolean;

/** Filters come from our own services; the limit bounds the memory that a mistake costs. */
const MAX_PREFIXES = 1_000;

export function compileFilter(options: FilterOptions): EventFilter {
  const subject =
    options.on === 'stream' ? (event: StoredEvent) => event.stream : (event: StoredEvent) => event.type;
  if (options.regex !== null) {
    const pattern = compilePattern(options.regex);
    return (event) => pattern.test(subject(event).toString('utf8'));
  }
  if (options.prefixes.length > MAX_PREFIXES) {
    throw new MalformedMessage(`A filter may name at most ${MAX_PREFIXES} prefixes.`);
  }
  const prefixes = options.prefixes.map((prefix) => Buffer.from(prefix, 'utf8'));
  return (event) => {
    const text = subject(event);
    return prefixes.some((prefix) => startsWith(text, prefix));
  };
}

function compilePattern(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    // EventStoreDB's regex dialect allows escapes that JavaScript's unicode mode does not.
    try {
      return new RegExp(source);
    } catch (cause) {
      throw new MalformedMessage(`The filter "${source}" is not a regular expression.`, { cause });
    }
  }
}

function startsWith(text: Buffer, prefix: Buffer): boolean {
  if (text.length < prefix.length) return false;
  for (let index = 0; index < prefix.length; index += 1) {
    if (text[index] !== prefix[index]) return false;
  }
  return true;
}
