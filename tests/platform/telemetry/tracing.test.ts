import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  currentTraceparent,
  inSpan,
  inSyncSpan,
  isTracing,
  type SpanInput,
  useTracer,
} from '#platform/telemetry/tracing.ts';

const ROOT = join(import.meta.dirname, '../../..');
afterEach(() => useTracer(null));

describe('tracing off', () => {
  test('runs the work without a span', async () => {
    expect(isTracing()).toBe(false);
    expect(await inSpan('a', {}, async (span) => [span, currentTraceparent()])).toEqual([null, undefined]);
    expect(inSyncSpan('a', {}, () => 1)).toBe(1);
  });

  test('does not load OpenTelemetry: two files import it, and are imported dynamically', () => {
    const files = globSync(['services/**/*.ts', 'projections/**/*.ts', 'contracts/**/*.ts'], { cwd: ROOT });
    const importing = (what: RegExp): readonly string[] =>
      files.filter((file) => what.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(importing(/from '@opentelemetry/)).toEqual([
      'services/platform/telemetry/metrics-export.ts',
      'services/platform/telemetry/telemetry-sdk.ts',
    ]);
    expect(importing(/from '.*metrics-export\.ts'/)).toEqual([
      'services/platform/telemetry/telemetry-sdk.ts',
    ]);
    expect(importing(/from '.*telemetry-sdk\.ts'/)).toEqual([]);
  });
});

describe('tracing on', () => {
  type Started = SpanInput & { readonly name: string; failure?: string | undefined };
  const record = (): Started[] => {
    const started: Started[] = [];
    useTracer({
      start: (name, input) => {
        const span: Started = { name, ...input };
        started.push(span);
        return {
          traceparent: `of ${name}`,
          set: () => undefined,
          end: (failure) => {
            span.failure = failure;
          },
        };
      },
    });
    return started;
  };

  test('uses the enclosing span as parent, unless a parent is passed', async () => {
    const started = record();
    await inSpan('outer', { parent: 'caller' }, async () => {
      await inSpan('inner', {}, async () => expect(currentTraceparent()).toBe('of inner'));
      await inSpan('other', { parent: 'elsewhere' }, async () => undefined);
      expect(currentTraceparent()).toBe('of outer');
    });
    expect(started.map(({ name, parent }) => [name, parent])).toEqual([
      ['outer', 'caller'],
      ['inner', 'of outer'],
      ['other', 'elsewhere'],
    ]);
    expect(currentTraceparent()).toBeUndefined();
  });

  test('records the class of an error, and not its message', async () => {
    const started = record();
    const fail = (): never => {
      throw new TypeError('hush');
    };
    await expect(inSpan('a', {}, async () => fail())).rejects.toThrow('hush');
    expect(() => inSyncSpan('b', {}, fail)).toThrow('hush');
    expect(started.map(({ failure }) => failure)).toEqual(['TypeError', 'TypeError']);
  });
});
