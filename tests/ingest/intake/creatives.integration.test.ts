import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import { landingPageOf } from '#contracts/values/landing-pages.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { creatives } from '#deploy/local/demo/generators/creative-files.ts';
import { pages } from '#deploy/local/demo/generators/landing-pages.ts';
import { buildWorld } from '#deploy/local/demo/world/world.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';

/** Landing pages and creative files on their way in, from observations to events in the log. */
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

describe('pages and creatives', () => {
  test('are recorded once, however often they are handed in', async () => {
    expect(observations.length).toBeGreaterThan(30);
    const events = await submitAll();
    // A page that ads of two pages lead to is visited twice, and found the same.
    expect(events).toBeGreaterThan(observations.length * 0.8);
    expect(await submitAll()).toBe(0);
  });

  test('become events of one page and of one file each', async () => {
    const visit = observations.find(({ type }) => type === 'landing_page.classify');
    const read = observations.find(({ type }) => type === 'creative.analysis');
    const page = landingPageOf(visit !== undefined && 'page_url' in visit ? visit.page_url : '');
    expect(await typesIn(landingPageStream(page?.landing_page_id ?? ''))).toEqual([
      'LandingPageScraped',
      'LandingPageClassified',
    ]);
    const key = read !== undefined && 'creative_key' in read ? read.creative_key : '';
    expect(await typesIn(creativeStream(key))).toEqual(['CreativeStored', 'CreativeAnalysed']);
  });

  test('are refused with a sentence that says what is wrong, and nothing is recorded', async () => {
    const analysis = observations.find(({ type }) => type === 'creative.analysis');
    await expect(intake.submit({ ...analysis, transcript: 'x'.repeat(5_000_000) })).rejects.toThrow(
      /transcript: .*100000 characters/,
    );
    await expect(
      intake.submit({ ...analysis, depth: 'described', fields: { hook: 'shock' } }),
    ).rejects.toThrow(/fields\.hook/);
    const visit = observations.find(({ type }) => type === 'landing_page.classify');
    await expect(intake.submit({ ...visit, page_type: 'funnel' })).rejects.toThrow(/page_type/);
    await expect(intake.submit({ ...visit, page_url: 'mailto:someone@shop.example' })).rejects.toThrow(
      /page_url: the address of a page/,
    );
  });
});
