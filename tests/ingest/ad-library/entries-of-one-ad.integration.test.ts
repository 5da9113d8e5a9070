import { describe, expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { brandIdOf } from '#domain/ids.ts';
import { ad as anyAd } from '#tests/dsl/scans.ts';
import { openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Rule 8: several entries of one ad in a scan are one ad with versions. */

const image = (name: string) => ({
  kind: 'image' as const,
  url: `https://media.example/${name}`,
  poster_url: null,
});
/** Page of a brand: scans of a shared one would make the scans late. */
const pageOf = (id: string): string => `70000000${id.slice(0, 1)}`;
const ad = (id: string, fields: Partial<ObservedAd>): ObservedAd =>
  anyAd(id, { page_id: pageOf(id), ...fields });
const first = (id: string): ObservedAd =>
  ad(id, { body: 'Warm socks', title: 'Socks', page_id: null, media: [image('a.png')] });
const second = (id: string): ObservedAd =>
  ad(id, {
    body: 'Dry socks',
    link_url: 'https://versions.example/b',
    is_active: true,
    media: [image('b.png')],
  });
const other = (id: string): ObservedAd => ad(id, { body: 'Hats' });

type Entries = { readonly name: string; readonly ads: readonly ObservedAd[]; readonly chunkSize?: number };
const SCANS: readonly Entries[] = [
  { name: 'in one chunk', ads: [first('51'), other('52'), second('51')] },
  { name: 'in one chunk, in another order', ads: [second('61'), first('61'), other('62')] },
  { name: 'in two chunks', ads: [first('71'), other('72'), second('71')], chunkSize: 2 },
  {
    name: 'in two chunks that arrive in another order',
    ads: [second('81'), other('82'), first('81')],
    chunkSize: 2,
  },
];

describe('entries of one ad', () => {
  it('are one ad with versions in any place, and revise nothing in another order', async () => {
    await using stack = await openIntakeStack();
    const events = async (domain: string): Promise<AdLibraryEvent[]> => {
      const all: AdLibraryEvent[] = [];
      for await (const event of stack.eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(domain))))
        all.push(event);
      return all;
    };
    for (const [index, { name, ads, chunkSize = 100 }] of SCANS.entries()) {
      const domain = `versions-${index}.example`;
      const page = pageOf(String(5 + index));
      const submit = async (day: number, entries: readonly ObservedAd[]): Promise<void> => {
        const { chunks, end } = scanOf(domain, `2026-05-0${day}T10:00:00Z`, entries, {
          chunkSize,
          pages: [page],
        });
        for (const chunk of chunks.toReversed()) await stack.intake.submit(chunk);
        await stack.intake.submit(end);
      };
      await submit(2, ads);
      await submit(3, ads.toReversed());
      const recorded = await events(domain);
      expect(
        recorded.map(({ type }) => type),
        name,
      ).toEqual(['AdStarted', 'AdStarted', 'ScanRecorded', 'ScanRecorded']);
      const started = recorded.flatMap(({ type, data }) =>
        type === 'AdStarted' && data.content.body !== 'Hats' ? [data] : [],
      );
      expect(started, name).toMatchObject([
        {
          page_id: page,
          content: {
            body: 'Dry socks',
            title: 'Socks',
            link_url: 'https://versions.example/b',
            media: [image('b.png'), image('a.png')],
            versions: [{ body: 'Dry socks' }, { body: 'Warm socks' }],
          },
        },
      ]);
    }
  });
});
