import { expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { AD_TEXT_MAX_CHARACTERS, AD_URL_MAX_CHARACTERS } from '#contracts/observations/shorten-ad.ts';
import { cutText } from '#contracts/values/text.ts';
import { brandIdOf } from '#domain/ids.ts';
import { ad } from '#tests/dsl/scans.ts';
import { openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

it('an ad over its limits is recorded within them, and is not revised by the next scan', async () => {
  await using stack = await openIntakeStack();
  const body = '🧦'.repeat(AD_TEXT_MAX_CHARACTERS);
  const link_url = `https://long.example/${'a'.repeat(AD_URL_MAX_CHARACTERS)}`;
  for (const at of ['2026-05-02T10:00:00Z', '2026-05-04T10:00:00Z']) {
    const { chunks, end } = scanOf('long.example', at, [ad('41', { body, link_url }), ad('42')]);
    for (const part of [...chunks, end]) await stack.intake.submit(part);
  }
  const events: AdLibraryEvent[] = [];
  for await (const event of stack.eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf('long.example'))))
    events.push(event);
  expect(events.map(({ type }) => type)).toEqual(['AdStarted', 'AdStarted', 'ScanRecorded', 'ScanRecorded']);
  expect(events[0]?.data).toMatchObject({
    content: { body: cutText(body, AD_TEXT_MAX_CHARACTERS), link_url: null },
  });
});
