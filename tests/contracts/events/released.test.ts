import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { HistoryRecord, toHistoryRecord, WORKSPACE_CATEGORIES } from '#contracts/audit/entry.ts';
import { categoryOf, type Event, type RecordedEvent } from '#contracts/events/event.ts';
import { requireReadable, SCHEMA_REGISTRY, upcast } from '#contracts/events/schema-registry.ts';
import { adLibrary } from '#domain/corpus/ad-library/decider.ts';
import { brand } from '#domain/corpus/brand.ts';
import { brandSlug } from '#domain/corpus/brand-slug.ts';
import { category } from '#domain/corpus/category.ts';
import { creative } from '#domain/corpus/creative.ts';
import { landingPage } from '#domain/corpus/landing-page.ts';
import { operator } from '#domain/corpus/operator.ts';
import { site } from '#domain/corpus/site/state.ts';
import { socialPage } from '#domain/corpus/social-page.ts';
import { storefront } from '#domain/corpus/storefront/state.ts';
import { traffic } from '#domain/corpus/traffic.ts';
import type { Decider } from '#domain/decider.ts';
import { alertRule } from '#domain/workspace/alert/rule-decider.ts';
import { apiKeys } from '#domain/workspace/api-keys.ts';
import { brandRequests } from '#domain/workspace/brand-requests.ts';
import { brief } from '#domain/workspace/brief.ts';
import { collectionTree } from '#domain/workspace/collection/decider.ts';
import { collectionItems } from '#domain/workspace/collection/items.ts';
import { note } from '#domain/workspace/note.ts';
import { report } from '#domain/workspace/report.ts';
import { saved } from '#domain/workspace/saved-items.ts';
import { tracking } from '#domain/workspace/tracked-brands.ts';
import { connection } from '#domain/workspace/connection.ts';
import { signInDecider } from '#domain/workspace/sign-in.ts';
import { webhookSecret } from '#domain/workspace/webhook-secret.ts';
import { workspace } from '#domain/workspace/workspace.ts';
import type { Change } from '#projections/define-projection.ts';
import { projections } from '#projections/index.ts';
import { projectEvents } from '#application/read-models/project-events.ts';
import { readSampleFiles, recordedStreams, releasedVersions, sampledVersions } from './released/samples.ts';

/**
 * This release must read all recorded events. A failing first test names the versions that need a sample in another file of
 * `released/`, with its hash here. Existing files never change: installations have such events.
 */

const PINNED: Readonly<Record<number, string>> = {
  1: '2480d1af9c2dfafaee0c778f4f8f0f8a77f9d7e06432673adb3fb8f1c29092ca',
  2: '492ab6b215b9cdc0f5c9c5a9c5eff3736ce89f9e50d681b5c0a3986f4ca7b5e9',
  3: '7b6be43ba2f800b992f7261488bbea7e23b32a8f209b47693963531eec8db650',
  4: 'd18c1de4ce1388b7f72c906335b368fca4c7ae438e83ea7ee6b2f59be5bc65c9',
  5: '8a7b30e36d3ec4c982cb3f141d9bf077b60a0adb0812aab047802788785983f8',
};

const erase = <State, E extends Event>(decider: Decider<State, E>): Decider<unknown, Event> =>
  decider as unknown as Decider<unknown, Event>;

const DECIDERS: Readonly<Record<string, Decider<unknown, Event>>> = {
  adLibrary: erase(adLibrary),
  brand: erase(brand),
  brandSlug: erase(brandSlug),
  category: erase(category),
  creative: erase(creative),
  landingPage: erase(landingPage),
  operator: erase(operator),
  site: erase(site),
  socialPage: erase(socialPage),
  storefront: erase(storefront),
  traffic: erase(traffic),
  alertRule: erase(alertRule),
  apiKeys: erase(apiKeys),
  brandRequests: erase(brandRequests),
  brief: erase(brief),
  collection: erase(collectionTree),
  connection: erase(connection),
  note: erase(note),
  report: erase(report),
  saved: erase(saved),
  signIn: erase(signInDecider),
  tracking: erase(tracking),
  webhookSecret: erase(webhookSecret),
  workspace: erase(workspace),
};
const ITEMS = erase(collectionItems({ first_item: null, created_by: 'bea', created_at: '' }));
/** Categories of outbox events and of digests, which no decider reads. */
const WITHOUT_DECIDER = ['logDigest', 'alertDelivery'];
/** Categories of events that no projection reads. */
const WITHOUT_PROJECTION = ['brandSlug', 'logDigest'];

/** Decider of a stream. A collection's items have its id after a `+`. */
const deciderOf = (stream: string): Decider<unknown, Event> | undefined =>
  stream.startsWith('collection-') && stream.includes('+') ? ITEMS : DECIDERS[categoryOf(stream)];

const workspaceCategories: ReadonlySet<string> = new Set(WORKSPACE_CATEGORIES);

const files = readSampleFiles();
const streams = files.flatMap(({ number, samples }) =>
  [...recordedStreams(samples)].map(([stream, events]) => ({ file: number, stream, events })),
);

describe('the samples of released events', () => {
  test('include every version of every event type', () => {
    const sampled = sampledVersions(files);
    const released = releasedVersions();
    expect(released.filter((version) => !sampled.has(version))).toEqual([]);
    expect([...sampled].filter((version) => !released.includes(version))).toEqual([]);
  });

  test('are unchanged since their release', () => {
    const hashes = files.map(({ number, samples }) => [number, hash('sha256', canonicalJson(samples))]);
    expect(Object.fromEntries(hashes)).toEqual(PINNED);
  });

  test('have a decider in every category but those of the outbox and of digests', () => {
    const without = Object.keys(SCHEMA_REGISTRY).filter((name) => !(name in DECIDERS));
    expect(without).toEqual(WITHOUT_DECIDER);
  });
});

const readable = (events: readonly RecordedEvent[]): readonly RecordedEvent[] =>
  events.map((event) => requireReadable(upcast(event)));

test.each(streams.filter(({ stream }) => !WITHOUT_DECIDER.includes(categoryOf(stream))))(
  'events of $stream in file $file fold to a state',
  ({ stream, events }) => {
    const decider = deciderOf(stream);
    if (!decider) throw new Error(`${stream} has no decider.`);
    expect(readable(events).reduce(decider.evolve, decider.initial)).not.toEqual(decider.initial);
  },
);

/** Columns without a value: the event lacks a field that the projection reads. */
const undefinedColumns = (change: Change): readonly string[] =>
  Object.values(change).flatMap((row) =>
    typeof row === 'object'
      ? Object.entries(row).flatMap(([column, value]) => (value === undefined ? [column] : []))
      : [],
  );

test.each(streams.filter(({ stream }) => !WITHOUT_PROJECTION.includes(categoryOf(stream))))(
  'events of $stream in file $file are projected by every projection of the stream',
  ({ stream, events }) => {
    const readers = projections.filter(({ prefixes }) =>
      prefixes.some((prefix) => stream.startsWith(prefix)),
    );
    expect(readers.length).toBeGreaterThan(0);
    for (const reader of readers) {
      for (const event of readable(events)) {
        const changes = reader.project(event);
        expect(changes, `${reader.name} ${event.type}`).toBeInstanceOf(Array);
        expect(changes.flatMap(undefinedColumns), `${reader.name} ${event.type}`).toEqual([]);
      }
      expect(projectEvents(reader, readable(events)), reader.name).toBeInstanceOf(Array);
    }
  },
);

test.each(streams.filter(({ stream }) => workspaceCategories.has(categoryOf(stream))))(
  'events of $stream in file $file become valid records of the workspace history',
  ({ events }) => {
    for (const event of readable(events)) {
      const record = toHistoryRecord(event);
      expect(HistoryRecord.parse(record)).toEqual(record);
      expect(record).toMatchObject({ workspace_id: 'ws_released', fact_id: event.id, data: event.data });
    }
  },
);
