import { globSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { categoryOf, type EventMetadata, type RecordedEvent } from '#contracts/events/event.ts';
import { currentVersion, SCHEMA_REGISTRY } from '#contracts/events/schema-registry.ts';

/** Event of a sample file. Its revision is its index among the file's events of the stream. */
export type Sample = {
  readonly stream: string;
  readonly id: string;
  readonly recorded_at: string;
  readonly type: string;
  readonly metadata: EventMetadata;
  readonly data: unknown;
};

/** Sample file: `1.json` has the first release, each later file what was new. */
export type SampleFile = { readonly number: number; readonly samples: readonly Sample[] };

export const readSampleFiles = (): readonly SampleFile[] =>
  globSync('*.json', { cwd: import.meta.dirname })
    .map((name) => Number(basename(name, '.json')))
    .toSorted((one, other) => one - other)
    .map((number) => ({
      number,
      samples: JSON.parse(
        readFileSync(resolve(import.meta.dirname, `${number}.json`), 'utf8'),
      ) as readonly Sample[],
    }));

/** Name of a schema version, such as `brand BrandRegistered 1`. */
const versionName = (stream: string, type: string, version: number): string =>
  `${categoryOf(stream)} ${type} ${version}`;

export const releasedVersions = (): readonly string[] =>
  Object.entries(SCHEMA_REGISTRY).flatMap(([category, types]) =>
    Object.keys(types).flatMap((type) => {
      const stream = `${category}-`;
      return Array.from({ length: currentVersion(stream, type) }, (_, index) =>
        versionName(stream, type, index + 1),
      );
    }),
  );

export const sampledVersions = (files: readonly SampleFile[]): ReadonlySet<string> =>
  new Set(
    files
      .flatMap(({ samples }) => samples)
      .map(({ stream, type, metadata }) => versionName(stream, type, metadata.schema_version)),
  );

export const recordedStreams = (
  samples: readonly Sample[],
): ReadonlyMap<string, readonly RecordedEvent[]> => {
  const streams = new Map<string, RecordedEvent[]>();
  for (const [index, { recorded_at, ...event }] of samples.entries()) {
    const events = streams.get(event.stream) ?? [];
    streams.set(event.stream, events);
    events.push({
      ...event,
      revision: BigInt(events.length),
      position: BigInt(index + 1),
      recordedAt: new Date(recorded_at),
    });
  }
  return streams;
};
