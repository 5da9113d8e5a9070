import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { silentLog } from '#platform/log.ts';
import { requestMeter } from '#platform/metrics.ts';
import { openOperatorPort } from '#platform/operator-port.ts';
import { untilFirstMet } from '#platform/readiness.ts';
import { openTimings } from '#platform/timings.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

describe('timings', () => {
  test('read out as a histogram of Prometheus', async () => {
    const registry = new Registry();
    const timings = openTimings(registry, { name: 'took_seconds', help: 'How long.', bounds: [0.1, 1] });
    const observe = timings.of({ status: 200 });
    for (const value of [0.05, 0.1, 0.5, 2]) observe(value);
    timings.of({ status: 200 })(0.25);
    const lines = (await registry.metrics()).split('\n').filter((line) => line !== '');
    expect(lines).toEqual([
      '# HELP took_seconds How long.',
      '# TYPE took_seconds histogram',
      'took_seconds_bucket{status="200",le="0.1"} 2',
      'took_seconds_bucket{status="200",le="1"} 4',
      'took_seconds_bucket{status="200",le="+Inf"} 5',
      'took_seconds_sum{status="200"} 2.9',
      'took_seconds_count{status="200"} 5',
    ]);
  });
});

describe('the operator port', () => {
  test('is off when no port is set', async () => {
    const settings = { METRICS_HOST: '127.0.0.1', DATABASE_URL: 'postgres://nowhere' };
    await using port = await openOperatorPort({
      settings,
      log: silentLog(),
      signal: new AbortController().signal,
    });
    expect(port.url).toBeNull();
  });

  test('says that it lives, what is missing, and what was counted', async () => {
    const database = await createTestDatabase();
    const ending = new AbortController();
    try {
      let made = false;
      await using port = await openOperatorPort({
        settings: { METRICS_HOST: '127.0.0.1', METRICS_PORT: 0, DATABASE_URL: database.url },
        log: silentLog(),
        signal: ending.signal,
        checks: { tables: untilFirstMet(async () => (made ? null : 'not made yet')) },
      });
      const ask = async (path: string) => {
        const response = await fetch(`${port.url}${path}`);
        return { status: response.status, text: await response.text() };
      };
      expect(await ask('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
      expect((await ask('/elsewhere')).status).toBe(404);
      const missing = async () => JSON.parse((await ask('/readyz')).text) as unknown;
      expect((await ask('/readyz')).status).toBe(503);
      expect(await missing()).toEqual({
        status: 'not_ready',
        missing: [
          { what: 'process', why: 'it is still starting' },
          { what: 'tables', why: 'not made yet' },
        ],
      });
      made = true;
      port.started();
      expect(await missing()).toEqual({ status: 'ready', missing: [] });
      // Asked for at the start only: what is built anew later takes nobody out of service.
      made = false;
      expect((await ask('/readyz')).status).toBe(200);

      requestMeter('getAnExample')(200, 0.002);
      const { text } = await ask('/metrics');
      expect(text).toContain(
        'adintel_api_request_duration_seconds_bucket{operation="getAnExample",status="200",le="0.0025"} 1',
      );
      expect(text).toContain('nodejs_eventloop_lag_p99_seconds ');
      ending.abort();
      expect(await missing()).toMatchObject({ missing: [{ what: 'process', why: 'it is ending' }] });
    } finally {
      await database.drop();
    }
  });
});
