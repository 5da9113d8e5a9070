import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { Observation, OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { type CorpusOptions, demoObservations } from '#deploy/local/demo/generators/scans.ts';

const OPTIONS: CorpusOptions = { seed: 7, brands: 40, ads: 4_000, days: 60, until: '2026-03-01' };

/** Time limit in ms of a case over the whole corpus: 1.5 s on an idle machine, seven on one with a load of 14. */
const GENERATES = { timeout: 40_000 } as const;

/** A corpus that is generated in milliseconds. */
const SMALL: CorpusOptions = { ...OPTIONS, brands: 4, ads: 40, days: 10 };

const digestOf = (observations: Iterable<Observation>): string => {
  const hash = createHash('sha256');
  for (const observation of observations) hash.update(JSON.stringify(observation)).update('\n');
  return hash.digest('hex');
};

describe('the demo corpus', () => {
  let observations: Observation[];

  beforeAll(() => {
    observations = [...demoObservations(OPTIONS)];
  });

  test('is the same byte for byte for the same options, and differs for another seed', GENERATES, () => {
    expect(digestOf(demoObservations(OPTIONS))).toBe(digestOf(observations));
    const digest = digestOf(demoObservations(SMALL));
    expect(digestOf(demoObservations(SMALL))).toBe(digest);
    expect(digestOf(demoObservations({ ...SMALL, seed: 8 }))).not.toBe(digest);
  });

  test('fits the contracts and the message size', GENERATES, () => {
    for (const observation of observations) {
      const parsed = Observation.parse(observation);
      if (!isDeepStrictEqual(parsed, observation)) expect(parsed).toEqual(observation);
      const bytes = Buffer.byteLength(JSON.stringify(observation));
      if (bytes >= OBSERVATION_MAX_BYTES) expect(bytes).toBeLessThan(OBSERVATION_MAX_BYTES);
    }
  });

  test('describes every brand as synthetic and uses only reserved domains', () => {
    const profiles = observations.filter(({ type }) => type === 'brand.profile');
    expect(profiles).toHaveLength(OPTIONS.brands);
    for (const profile of profiles) {
      expect(profile).toMatchObject({
        description: expect.stringContaining('Synthetic demo brand.'),
        domain: expect.stringMatching(/\.example$/),
      });
    }
    expect(new Set(profiles.map((profile) => 'domain' in profile && profile.domain)).size).toBe(
      OPTIONS.brands,
    );
  });

  test('has about the requested number of ads, in scans that are ordered and end on the day before `until`', () => {
    const parts = observations.filter((one) => one.type === 'ad_library.scan');
    const ids = new Set(parts.flatMap(({ ads }) => ads.map(({ ad_id }) => ad_id)));
    expect(ids.size).toBeGreaterThan(OPTIONS.ads * 0.8);
    expect(ids.size).toBeLessThanOrEqual(OPTIONS.ads);
    const times = parts.map(({ scanned_at }) => scanned_at);
    expect(times).toEqual(times.toSorted());
    expect([times[0]?.slice(0, 10), times.at(-1)?.slice(0, 10)]).toEqual(['2025-12-31', '2026-02-28']);
  });
});
