import { describe, expect, test } from 'vitest';
import { WORKSPACE_CATEGORIES } from '#contracts/audit/entry.ts';
import { erasedName, sentenceOf } from '#contracts/audit/sentence.ts';
import { SCHEMA_REGISTRY } from '#contracts/events/schema-registry.ts';

const MEMBER = { kind: 'member', id: 'mem_1' } as const;
const NAMES = new Map([
  ['mem_1', 'Ada'],
  ['mem_2', erasedName('mem_2')],
  ['b1', 'Quill Basics'],
]);
const told = (
  type: string,
  data: object,
  actor: Parameters<typeof sentenceOf>[0]['actor'] = MEMBER,
): string => sentenceOf({ actor, type, data: data as never }, NAMES);

describe('the sentence of an entry', () => {
  test.each([
    ['BrandTracked', { brand_id: 'b1', cadence: 'weekly' }, 'Member Ada tracked brand Quill Basics weekly.'],
    ['BrandUntracked', { brand_id: 'b2' }, 'Member Ada stopped tracking brand b2.'],
    [
      'MemberErased',
      { member_id: 'mem_2' },
      'Member Ada erased the name and address of member mem_2 (erased).',
    ],
    [
      'CollectionDeleted',
      { collection_id: 'c1', inside: ['c2'] },
      'Member Ada deleted collection c1 and 1 collection inside it.',
    ],
    [
      'DeliveryAttempted',
      { delivery_id: 'd1', attempt: 2, outcome: 'failed', reason: 'status 500' },
      'Member Ada did not deliver d1 in attempt 2, and gave up: status 500.',
    ],
    [
      'BriefRestated',
      { brief_id: 'w1', rows_total: 2 },
      'Member Ada restated brief w1: the counts of 2 brands differ from before.',
    ],
    [
      'ReportRestated',
      { report_id: 'r1', rows_total: 1 },
      'Member Ada restated report r1: 1 row differs from before.',
    ],
  ])('of type %s says who did what', (type, data, sentence) => {
    expect(told(type, data)).toBe(sentence);
  });

  test('names the kind of an actor without a name', () => {
    const data = { plan: 'pro' };
    expect(told('PlanChanged', data, { kind: 'service', id: 'ops' })).toBe(
      'The service ops changed the plan to pro.',
    );
    expect(told('PlanChanged', data, { kind: 'api_key', id: 'key_1' })).toMatch(/^API key key_1 /);
    expect(told('PlanChanged', data, { kind: 'connection', id: 'con_1' })).toMatch(/^Connection con_1 /);
  });

  test('exists for each type that a workspace records', () => {
    for (const category of WORKSPACE_CATEGORIES)
      for (const type of Object.keys(SCHEMA_REGISTRY[category] ?? {}))
        expect(told(type, {}), type).not.toContain('does not know');
  });

  test('names a type of a newer release, and data that cannot be read', () => {
    expect(told('BrandPainted', {})).toBe(
      'Member Ada recorded BrandPainted, which this release does not know.',
    );
    expect(told('ReportRequested', {})).toBe(
      'Member Ada recorded ReportRequested with data that cannot be read.',
    );
  });
});
