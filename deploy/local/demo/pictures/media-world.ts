import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { SECOND_MS } from '#contracts/values/time.ts';
import { conceptsOf } from '../generators/ad-content.ts';
import { composeCopy } from '../world/phrases.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, World } from '../world/world.ts';
import { type Concept, MEDIA_ORIGIN, undatedAddress } from './media-addresses.ts';

/** MP4 of 16 by 16 grey pixels, six seconds. */
const FILM = readFileSync(new URL('./film.mp4', import.meta.url));

const SIZES = [
  [1_080, 1_350],
  [1_080, 1_080],
  [1_200, 628],
] as const;
const PATH = /^\/(\d+)\/(\d+)-(\d+)-(\d+)\.(jpg|mp4)$/;
/** Limits of a headline: characters of a line, and lines. */
const LINE_CHARACTERS = 22;
const LINES_MAX = 4;

export type MediaAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly address?: string;
};

/** Appends a box `free`, which players skip, so that each film has other bytes. */
const filmOf = (address: string): Buffer => {
  const label = Buffer.from(`\0\0\0\0free${address}`);
  label.writeUInt32BE(label.length);
  return Buffer.concat([FILM, label]);
};

const refusal = (status: number): MediaAnswer => ({
  status,
  contentType: 'text/plain',
  body: Buffer.from(status === 403 ? 'URL signature expired' : 'Not found'),
});

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const linesOf = (text: string): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < LINE_CHARACTERS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.slice(0, LINES_MAX);
};

/** Each creative has shapes of its own, so that no two look the same. */
const drawingOf = (world: World, { page, concept, brand: index }: Concept, brand: DemoBrand): string => {
  const random = new Random(world.seed, FOR.creative, page, concept, index);
  const [width, height] = random.pick(SIZES);
  const { title } = composeCopy(random, 'brand', 'en', {
    brand: brand.name,
    product: brand.categoryPath[2].toLowerCase(),
    percent: String(random.between(2, 8) * 5),
    code: 'DEMO',
  });
  const hue = random.below(360);
  const shapes = Array.from({ length: random.between(5, 9) }, () => {
    const [x, y] = [random.below(width), random.below(height)];
    const fill = `hsl(${(hue + random.below(160)) % 360} ${random.between(35, 75)}% ${random.between(30, 80)}%)`;
    return random.chance(0.5)
      ? `<circle cx="${x}" cy="${y}" r="${random.between(80, 320)}" fill="${fill}"/>`
      : `<rect x="${x}" y="${y}" width="${random.between(120, 520)}" height="${random.between(120, 520)}" rx="24" fill="${fill}"/>`;
  });
  const headline = linesOf(title).map(
    (line, n) =>
      `<text x="60" y="${150 + n * 84}" font-size="72" font-weight="700">${escapeXml(line)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" fill="#fff">`,
    `<rect width="${width}" height="${height}" fill="hsl(${hue} 45% 28%)"/>`,
    ...shapes,
    `<g stroke="#000" stroke-opacity=".35" stroke-width="4" paint-order="stroke">${headline.join('')}`,
    `<text x="60" y="${height - 60}" font-size="44">${escapeXml(brand.name)}</text></g></svg>`,
  ].join('');
};

/** `null` for a path without a concept in this world. */
const conceptOf = (world: World, path: string): (Concept & { readonly extension: 'jpg' | 'mp4' }) | null => {
  const [, seed, page = '', concept = '', brand = '', extension] = PATH.exec(path) ?? [];
  if (seed !== String(world.seed)) return null;
  const named = { page: Number(page), concept: Number(concept), brand: Number(brand) };
  const [shown, owner] = [world.pageList[named.page], world.brandList[named.brand]];
  if (shown === undefined || owner === undefined || named.concept >= conceptsOf(shown)) return null;
  return { ...named, extension: extension === 'mp4' ? 'mp4' : 'jpg' };
};

/** PNG pictures, and films that name their creative. The same address gives the same bytes; an ended one gets 403. */
export const answerMedia = async (world: World, target: string, now: Date): Promise<MediaAnswer> => {
  const url = URL.parse(target, MEDIA_ORIGIN);
  const concept = url === null ? null : conceptOf(world, url.pathname);
  if (url === null || concept === null) return refusal(404);
  const end = Number.parseInt(url.searchParams.get('oe') ?? '', 16) * SECOND_MS;
  if (!(end > now.getTime())) return refusal(403);
  const address = undatedAddress(world, concept, concept.extension);
  if (concept.extension === 'mp4') {
    return { status: 200, contentType: 'video/mp4', body: filmOf(address), address };
  }
  const brand = world.brandList[concept.brand] as DemoBrand;
  const body = await sharp(Buffer.from(drawingOf(world, concept, brand)))
    .png({ compressionLevel: 6 })
    .toBuffer();
  return { status: 200, contentType: 'image/png', body, address };
};

export const creativeKeyOf = ({ body }: MediaAnswer): string => hash('sha256', body, 'hex');
