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

describe('off', () => {
  test('work is done as if there were no tracing', async () => {
    expect(isTracing()).toBe(false);
    expect(await inSpan('a', {}, async (span) => [span, currentTraceparent()])).toEqual([null, undefined]);
    expect(inSyncSpan('a', {}, () => 1)).toBe(1);
  });

  test('nothing of OpenTelemetry is loaded: one file imports it, and that one is imported when asked for', () => {
    const files = globSync(['services/**/*.ts', 'projections/**/*.ts', 'contracts/**/*.ts'], { cwd: ROOT });
    const importing = (what: RegExp): readonly string[] =>
      files.filter((file) => what.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(importing(/from '@opentelemetry/)).toEqual(['services/platform/telemetry/tracing-sdk.ts']);
    expect(importing(/from '.*tracing-sdk\.ts'/)).toEqual([]);
  });
});

describe('on', () => {
  type Started = SpanInput & { readonly name: string; failure?: string | undefined };
  const record = (): Started[] => {
    const started: Started[] = [];
    useTracer({
      start: (name, input) => {
        const one: Started = { name, ...input };
        started.push(one);
        return {
          traceparent: `of ${name}`,
          set: () => undefined,
          end: (failure) => {
            one.failure = failure;
          },
        };
      },
    });
    return started;
  };

  test('a span goes on with the one around it, or with what it is given', async () => {
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

  test('of a failure its class is told, and not what it says', async () => {
    const started = record();
    const fail = (): never => {
      throw new TypeError('hush');
    };
    await expect(inSpan('a', {}, async () => fail())).rejects.toThrow('hush');
    expect(() => inSyncSpan('b', {}, fail)).toThrow('hush');
    expect(started.map(({ failure }) => failure)).toEqual(['TypeError', 'TypeError']);
  });
});
