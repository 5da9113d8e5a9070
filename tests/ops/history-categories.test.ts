import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WORKSPACE_CATEGORIES } from '#contracts/audit/entry.ts';

/** Categories outside of workspaces. Every other category is part of a workspace's history. */
const CORPUS_CATEGORIES = [
  'adLibrary',
  'brand',
  'brandSlug',
  'category',
  'creative',
  'landingPage',
  'operator',
  'site',
  'socialPage',
  'storefront',
  'traffic',
];
const EVENTS = join(import.meta.dirname, '../../contracts/events');

test('every event category belongs to the corpus or to the history of workspaces', async () => {
  const categories: string[] = [];
  for (const file of globSync('{corpus,workspace}/*.ts', { cwd: EVENTS })) {
    const exported = (await import(join(EVENTS, file))) as Readonly<Record<string, unknown>>;
    for (const [name, value] of Object.entries(exported)) {
      if (/^[A-Z_]+$/.test(name) && typeof value === 'string') categories.push(value);
    }
  }
  expect(categories).toContain('workspace');
  const listed: readonly string[] = [...WORKSPACE_CATEGORIES, ...CORPUS_CATEGORIES];
  expect(categories.filter((category) => !listed.includes(category))).toEqual([]);
});
