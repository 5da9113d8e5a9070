import { describe, expect, test } from 'vitest';
import {
  OBSERVATION_TYPE_HEADER,
  ORDERING_KEY_HEADER,
  routingHeadersOf,
  routingOf,
} from '#contracts/messages/observation-headers.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { headersFrom } from '#platform/nats/connection.ts';
import { accessSetsOf } from '#services/ingest/queue/dependency-order.ts';
import {
  type ObservationMessage,
  readObservationMessage,
} from '#services/ingest/queue/observation-message.ts';

const SUBJECT = 'observations.shop_example';
const scan = { type: 'ad_library.scan', brand_domain: 'shop.example', ads: [] };
const scanRouting = { type: 'ad_library.scan', orderingKey: 'shop.example' };

const messageOf = (text: string, headers: Readonly<Record<string, string>> = {}): ObservationMessage =>
  readObservationMessage({ subject: SUBJECT, data: Buffer.from(text), headers: headersFrom(headers) });

describe('message of an observation', () => {
  test('takes type and key from the headers, without parsing', () => {
    const message = messageOf('no JSON', routingHeadersOf(scan));
    expect(message.routing()).toEqual(scanRouting);
    expect(() => message.observation()).toThrow('not JSON');
  });

  test('takes type and key from the parsed message when a header is absent', () => {
    const headers = [
      {},
      { [OBSERVATION_TYPE_HEADER]: scanRouting.type },
      { [ORDERING_KEY_HEADER]: scanRouting.orderingKey },
    ];
    for (const some of headers) {
      const message = messageOf(JSON.stringify(scan), some);
      expect(message.routing()).toEqual(scanRouting);
      expect(message.observation()).toEqual(scan);
    }
  });

  test('reads a message without any headers object', () => {
    const data = Buffer.from(JSON.stringify(scan));
    const message = readObservationMessage({ subject: SUBJECT, data, headers: undefined });
    expect(message.routing()).toEqual(scanRouting);
  });

  test('is parsed once', () => {
    const message = messageOf(JSON.stringify(scan));
    expect(message.routing()).toEqual(scanRouting);
    expect(message.observation()).toBe(message.observation());
  });

  test('is refused when a header contradicts its content', () => {
    const text = JSON.stringify(scan);
    const honest = routingHeadersOf(scan);
    const wrongType = messageOf(text, { ...honest, [OBSERVATION_TYPE_HEADER]: 'site.scan' });
    expect(() => wrongType.observation()).toThrow(
      'The header `Observation-Type` is "site.scan", but the observation needs "ad_library.scan". ' +
        'Send the matching header, or none.',
    );
    const wrongKey = messageOf(text, { ...honest, [ORDERING_KEY_HEADER]: 'other.example' });
    expect(() => wrongKey.observation()).toThrow('`Ordering-Key` is "other.example"');
    const onlyWrongKey = messageOf(text, { [ORDERING_KEY_HEADER]: 'other.example' });
    expect(() => onlyWrongKey.observation()).toThrow('`Ordering-Key` is "other.example"');
    expect(onlyWrongKey.routing()).toBeNull();
  });

  test('is refused when it is too large', () => {
    const message = messageOf(JSON.stringify('x'.repeat(OBSERVATION_MAX_BYTES)));
    expect(message.routing()).toBeNull();
    expect(() => message.observation()).toThrow('larger than 1000000 bytes');
  });

  test('has access sets also when headers or content are malformed', async () => {
    const hostile = [
      'null',
      '5',
      '[]',
      'no JSON',
      '{"type":"brand.profile","domain":7}',
      '{"type":"ad_library.scan_end","brand_domain":"shop.example","coverage":{"pages":[null,{"page_id":{"toString":1}}]}}',
      '{"type":"operator.record","name":{}}',
      '{"type":"category.define","path":"Shoes"}',
    ];
    const types = [
      {},
      ...['brand.profile', 'ad_library.scan_end', 'ad_library.scan', 'none'].map((type) => ({ type })),
    ];
    for (const text of hostile) {
      for (const { type } of types as readonly { readonly type?: string }[]) {
        const headers: Record<string, string> =
          type === undefined
            ? {}
            : { [OBSERVATION_TYPE_HEADER]: type, [ORDERING_KEY_HEADER]: 'shop.example' };
        const sets = await accessSetsOf(messageOf(text, headers), async () => false);
        expect(sets.writes[0]).toBe(SUBJECT);
      }
    }
  });
});

describe('routing of an observation', () => {
  test('has a key that survives a header: encoded, and cut when long', () => {
    const operator = { type: 'operator.record', name: ' Ünder\r\nWear: Ltd ' };
    expect(routingOf(operator)?.orderingKey).toBe('%20%C3%BCnder%0D%0Awear%3A%20ltd%20');
    const message = messageOf(JSON.stringify(operator), routingHeadersOf(operator));
    expect(message.observation()).toEqual(operator);
    const long = { type: 'category.define', path: ['\ud83d'.repeat(10_000)] };
    expect(routingOf(long)?.orderingKey).toHaveLength(256 * '%EF%BF%BD'.length);
  });

  test('is null for a value of unknown type or without a valid key', () => {
    for (const input of [
      null,
      5,
      {},
      { type: 'ad_library.scan' },
      { type: 'none', domain: 'shop.example' },
    ]) {
      expect(routingOf(input)).toBeNull();
      expect(routingHeadersOf(input)).toEqual({});
    }
  });
});
