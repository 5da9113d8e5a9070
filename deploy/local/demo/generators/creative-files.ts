import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import { createHash } from 'node:crypto';
import { CREATIVE_FIELDS, type MediaKind } from '#contracts/values/media/creatives.ts';
import type { CreativeAnalysis } from '#contracts/observations/creative.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { adIdOf } from './ad-content.ts';
import { type SampledAd, sampleAds } from './sampled-ads.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, DemoPage, World } from '../world/world.ts';

const ADS_OF_FILE_MAX = 1_000;

const STORED_SHARE = 0.95;
const DESCRIBED_SHARE = 0.6;
const TRANSCRIBED_SHARE = 0.25;
const FIELD_READ_SHARE = 0.92;
const CORRECTED_SHARE = 0.3;
const SIZES = [
  [1_080, 1_920],
  [1_080, 1_080],
  [1_200, 628],
] as const;
const FRAME_EVERY_SECONDS = 3;

type File = { readonly kind: MediaKind; readonly ads: string[]; readonly first: SampledAd };

export function* creatives(world: World, firstDayMs: number): Generator<Observation> {
  for (const page of world.pageList) {
    for (const [name, file] of filesOf(world, page)) {
      const brand = world.brandList[file.first.life.brand];
      if (brand !== undefined) yield* archived(world, brand, name, file, firstDayMs);
    }
  }
}

/** Ads with the same creative concept share a file. */
const filesOf = (world: World, page: DemoPage): ReadonlyMap<string, File> => {
  const files = new Map<string, File>();
  for (const ad of sampleAds(world, page)) {
    const [media] = ad.content.media;
    if (media?.url === null || media === undefined) continue;
    const name = `${media.url.split('?', 1)[0]}#${ad.life.brand}`;
    const file = files.get(name) ?? { kind: media.kind, ads: [], first: ad };
    if (file.ads.length < ADS_OF_FILE_MAX) file.ads.push(adIdOf(world.seed, ad.life.ad));
    files.set(name, file);
  }
  return files;
};

function* archived(
  world: World,
  brand: DemoBrand,
  name: string,
  { kind, ads, first }: File,
  firstDayMs: number,
): Generator<Observation> {
  const creative_key = createHash('sha256').update(name).digest('hex');
  const random = new Random(world.seed, FOR.creative, Number.parseInt(creative_key.slice(0, 7), 16));
  const observedAt = (hours: number): string =>
    new Date(firstDayMs + first.day * DAY_MS + hours * HOUR_MS).toISOString();
  const isVideo = kind === 'video';
  const [width, height] = random.pick(SIZES);
  const seconds = isVideo ? random.between(6, 58) + random.below(10) / 10 : null;
  const isStored = random.chance(STORED_SHARE);
  yield {
    type: 'creative.file',
    creative_key,
    observed_at: observedAt(7),
    ad_ids: ads,
    media_kind: kind,
    content_type: isVideo ? 'video/mp4' : 'image/jpeg',
    bytes: isVideo ? random.between(800_000, 20_000_000) : random.between(40_000, 900_000),
    width,
    height,
    duration_seconds: seconds,
    frame_times_seconds: framesOf(seconds),
    media_url: isStored ? `https://archive.example/${creative_key}.${isVideo ? 'mp4' : 'jpg'}` : null,
    object_key: isStored ? `creatives/${creative_key}` : null,
    poster_url: isStored && isVideo ? `https://archive.example/${creative_key}.jpg` : null,
  };
  const reading = readingOf({ kind, ads, first }, creative_key, { brand, seconds, observedAt }, random);
  if (reading !== null) yield reading;
}

type ReadFile = {
  readonly brand: DemoBrand;
  readonly seconds: number | null;
  readonly observedAt: (hours: number) => string;
};

/** `null` for a file that is not analysed. */
const readingOf = (
  { kind, first }: File,
  creative_key: string,
  { brand, seconds, observedAt }: ReadFile,
  random: Random,
): CreativeAnalysis | null => {
  const isVideo = kind === 'video';
  const depth = random.next();
  const said = isVideo ? spokenOf(first, brand, random) : SILENT;
  if (depth < DESCRIBED_SHARE) {
    return describedOf(creative_key, observedAt(10), first, said, framesOf(seconds), random);
  }
  if (isVideo && depth < DESCRIBED_SHARE + TRANSCRIBED_SHARE) {
    return { ...unread(creative_key, observedAt(9)), depth: 'transcribed', ...said };
  }
  return null;
};

/** Duration of each film that the media server plays. */
const SERVED_SECONDS = 6;

/** `null` for a file that is not analysed. `address`: without its end. */
export const analysisOfServed = (
  world: World,
  address: string,
  creative_key: string,
  observedAt: string,
): CreativeAnalysis | null => {
  const [, page, brandIndex] = /\/(\d+)-\d+-(\d+)\.\w+$/.exec(address) ?? [];
  const [shown, brand] = [world.pageList[Number(page)], world.brandList[Number(brandIndex)]];
  if (shown === undefined || brand === undefined) return null;
  const file = filesOf(world, shown).get(`${address}#${brand.index}`);
  if (file === undefined) return null;
  const random = new Random(world.seed, FOR.creative, Number.parseInt(creative_key.slice(0, 7), 16));
  const seconds = file.kind === 'video' ? SERVED_SECONDS : null;
  return readingOf(file, creative_key, { brand, seconds, observedAt: () => observedAt }, random);
};

const framesOf = (seconds: number | null): number[] | null =>
  seconds === null
    ? null
    : Array.from({ length: Math.ceil(seconds / FRAME_EVERY_SECONDS) }, (_, n) => n * FRAME_EVERY_SECONDS);

type Spoken = Pick<CreativeAnalysis, 'transcript' | 'language' | 'corrections'>;
const SILENT: Spoken = { transcript: null, language: null, corrections: null };

const spokenOf = ({ content }: SampledAd, brand: DemoBrand, random: Random): Spoken => {
  const text = [content.title, content.body].filter((part) => part !== null).join('. ');
  const heard = `${brand.name.split(' ')[0]?.toLowerCase()}s`;
  return random.chance(CORRECTED_SHARE)
    ? {
        transcript: `${text} Find it at ${heard}.`,
        language: content.languages?.[0] ?? null,
        corrections: [{ heard, meant: brand.name }],
      }
    : { transcript: text, language: content.languages?.[0] ?? null, corrections: [] };
};

const unread = (creative_key: string, observed_at: string): CreativeAnalysis => ({
  type: 'creative.analysis',
  creative_key,
  observed_at,
  depth: 'measured',
  ...SILENT,
  shown_texts: null,
  read_frame_times_seconds: null,
  fields: null,
});

const describedOf = (
  creative_key: string,
  observed_at: string,
  { content }: SampledAd,
  said: Spoken,
  frames: readonly number[] | null,
  random: Random,
): CreativeAnalysis => {
  const value = <Value>(values: readonly Value[]): Value | null =>
    random.chance(FIELD_READ_SHARE) ? random.pick(values) : null;
  return {
    ...unread(creative_key, observed_at),
    depth: 'described',
    ...said,
    shown_texts: [content.title, content.cta_text].filter((text) => text !== null),
    read_frame_times_seconds: frames === null ? null : frames.filter((_, index) => index % 2 === 0),
    fields: {
      hook: value(CREATIVE_FIELDS.hook),
      style: value(CREATIVE_FIELDS.style),
      presenter: value(CREATIVE_FIELDS.presenter),
      setting: value(CREATIVE_FIELDS.setting),
      tone: value(CREATIVE_FIELDS.tone),
      offer: value(CREATIVE_FIELDS.offer),
      audio: frames === null ? null : value(CREATIVE_FIELDS.audio),
    },
  };
};
