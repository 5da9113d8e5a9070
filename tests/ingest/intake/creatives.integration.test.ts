import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { creatives } from '#deploy/local/demo/generators/creative-files.ts';
import { pages } from '#deploy/local/demo/generators/landing-pages.ts';
import { buildWorld } from '#deploy/local/demo/world/world.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';

let stack: IntakeStack;
let intake: IntakeStack['intake'];
let eventStore: EventStore;

beforeAll(async () => {
  stack = await openIntakeStack();
  ({ intake, eventStore } = stack);
});
afterAll(() => stack[Symbol.asyncDispose]());

const FIRST_DAY_MS = Date.parse('2026-01-20');
const world = buildWorld({ seed: 3, brands: 2, ads: 40, days: 20 });
const observations: readonly Observation[] = [
  ...pages(world, FIRST_DAY_MS),
  ...creatives(world, FIRST_DAY_MS),
];

const submitAll = async (): Promise<number> => {
  let events = 0;
  for (const observation of observations) events += (await intake.submit(observation)).events;
  return events;
};

const typesIn = async (stream: string): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const event of eventStore.read(stream)) types.push(event.type);
  return types;
};

describe('landing pages and creatives', () => {
  test('are recorded once when they are submitted repeatedly', async () => {
    expect(observations.length).toBeGreaterThan(30);
    const events = await submitAll();
    // A page that is visited unchanged has fewer events.
    expect(events).toBeGreaterThan(observations.length * 0.8);
    expect(await submitAll()).toBe(0);
  });

  test('become events in one stream per landing page and per file', async () => {
    const classification = observations.find(({ type }) => type === 'landing_page.classify');
    const analysis = observations.find(({ type }) => type === 'creative.analysis');
    const page = landingPageOf(
      classification !== undefined && 'page_url' in classification ? classification.page_url : '',
    );
    expect(await typesIn(landingPageStream(page?.landing_page_id ?? ''))).toEqual([
      'LandingPageScraped',
      'LandingPageClassified',
    ]);
    const key = analysis !== undefined && 'creative_key' in analysis ? analysis.creative_key : '';
    expect(await typesIn(creativeStream(key))).toEqual(['CreativeStored', 'CreativeAnalysed']);
  });

  test('are refused with the invalid field in the message', async () => {
    const analysis = observations.find(({ type }) => type === 'creative.analysis');
    await expect(intake.submit({ ...analysis, transcript: 'a\u0000' })).rejects.toThrow(/transcript: a NUL/);
    await expect(
      intake.submit({ ...analysis, depth: 'described', fields: { hook: 'shock' } }),
    ).rejects.toThrow(/fields\.hook/);
    const classification = observations.find(({ type }) => type === 'landing_page.classify');
    await expect(intake.submit({ ...classification, page_type: 'funnel' })).rejects.toThrow(/page_type/);
    await expect(
      intake.submit({ ...classification, page_url: 'mailto:someone@shop.example' }),
    ).rejects.toThrow(/page_url: the URL of a web page/);
  });

  test('are recorded with a cut when a text is longer than an append of the event store', async () => {
    const scrape = observations.find(({ type }) => type === 'landing_page.scrape');
    const analysis = observations.find(({ type }) => type === 'creative.analysis');
    const words = 'word '.repeat(250_000);
    const observed_at = new Date().toISOString();
    for (const long of [
      { ...scrape, observed_at, title: words, description: words, headings: [words] },
      {
        ...analysis,
        observed_at,
        transcript: words,
        shown_texts: Array.from({ length: 300 }, () => words.slice(0, 5_000)),
      },
    ])
      expect((await intake.submit(long)).events).toBe(1);
  });
});
