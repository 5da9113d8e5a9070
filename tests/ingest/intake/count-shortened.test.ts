import { expect, test } from 'vitest';
import {
  AD_CARDS_MAX,
  AD_TEXT_MAX_CHARACTERS,
  AD_URL_MAX_CHARACTERS,
} from '#contracts/observations/shorten-ad.ts';
import { SHOWN_TEXTS_MAX } from '#contracts/observations/creative.ts';
import { Observation } from '#contracts/observations/index.ts';
import { countShortened } from '#services/ingest/intake/count-shortened.ts';
import { ad } from '#tests/dsl/scans.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

const AT = '2026-05-02T10:00:00Z';
const counted = (sent: object) => countShortened(sent, Observation.parse(sent));

test('counts the cut texts, the URLs and the list entries of ads', () => {
  const body = 'a'.repeat(AD_TEXT_MAX_CHARACTERS + 1);
  const link_url = `https://long.example/${'a'.repeat(AD_URL_MAX_CHARACTERS)}`;
  const card = { body: null, title: null, link_description: null, cta_text: null, link_url: null };
  const cards = Array.from({ length: AD_CARDS_MAX + 2 }, () => card);
  const { chunks } = scanOf('long.example', AT, [
    ad('1', { body, link_url }),
    ad('2', { body, cards }),
    ad('3'),
  ]);
  expect(chunks.map(counted)).toEqual([{ texts: 2, urls: 1, entries: 2 }]);
});

test('counts the entries behind the mark of a cut list', () => {
  const analysis = {
    type: 'creative.analysis',
    creative_key: '9'.repeat(64),
    observed_at: AT,
    depth: 'measured',
    transcript: '  spoken ',
    language: null,
    corrections: null,
    shown_texts: Array.from({ length: SHOWN_TEXTS_MAX + 5 }, (_, index) => `text ${index} `),
    read_frame_times_seconds: null,
    fields: null,
  };
  expect(counted(analysis)).toEqual({ texts: 0, urls: 0, entries: 6 });
  expect(counted({ ...analysis, shown_texts: [' a ', 'b'] })).toBeNull();
});

test('counts nothing of an observation within its limits', () => {
  const { chunks, end } = scanOf('short.example', AT, [ad('1')]);
  expect([...chunks, end].map(counted)).toEqual([null, null]);
});
