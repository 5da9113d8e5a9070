import { creativeIdOf } from '#contracts/values/creatives.ts';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import type { CreativeAnalysis, CreativeFile } from '#contracts/observations/creative.ts';
import { creative, recordCreativeAnalysis, recordCreativeFile } from '#domain/corpus/creative.ts';
import type { ApiStack } from './stack.ts';

/** Creative files as facts, as ingest would record them of one observation and one analysis. */
const METADATA = {
  $correlationId: 'creatives',
  $causationId: 'creatives',
  request_id: 'creatives',
  actor: { kind: 'service', id: 'tests' },
  schema_version: 1,
} as const;

/** A key that begins with as many nines as it is long, less its number. */
export const keyOf = (n: number): string => String(n).padStart(64, '9');

export const creativeOf = (n: number, adId: string): string => creativeIdOf(adId, keyOf(n));

export const NO_FIELDS = {
  hook: null,
  style: null,
  presenter: null,
  setting: null,
  tone: null,
  offer: null,
  audio: null,
} as const;

/** Records a file and, where given, what was read of it; answers the position of the last fact. */
export const recordCreative = async (
  stack: Pick<ApiStack, 'eventStore'>,
  creativeKey: string,
  adIds: readonly string[],
  media: Partial<CreativeFile> = {},
  analysis?: Partial<CreativeAnalysis>,
): Promise<bigint> => {
  const facts = [
    ...recordCreativeFile({
      type: 'creative.file',
      creative_key: creativeKey,
      observed_at: '2026-05-02T10:00:00Z',
      ad_ids: [...adIds],
      media_kind: 'video',
      content_type: 'video/mp4',
      bytes: 1_000_000,
      width: 1080,
      height: 1920,
      duration_seconds: 15,
      frame_times_seconds: [0, 5, 10],
      media_url: 'https://media.example/a.mp4',
      object_key: null,
      poster_url: 'https://media.example/a.jpg',
      ...media,
    })(creative.initial),
    ...(analysis === undefined
      ? []
      : recordCreativeAnalysis({
          type: 'creative.analysis',
          creative_key: creativeKey,
          observed_at: '2026-05-03T10:00:00Z',
          depth: 'described',
          transcript: null,
          language: null,
          corrections: null,
          shown_texts: null,
          read_frame_times_seconds: null,
          fields: null,
          ...analysis,
        })(creative.initial)),
  ];
  const stream = creativeStream(creativeKey);
  return (await stack.eventStore.append(stream, -1n, facts, METADATA, `creative ${creativeKey}`)).position;
};
