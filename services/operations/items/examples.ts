import { AD_ID } from '../endpoint/examples.ts';

const MEMBER_ID = 'mem_2h8k4n6p0r5s7v9w';
export const COLLECTION_ID = '3e9b7d15-6a2c-5f48-9b0d-8c1a4e7f2d63';
export const NOTE_ID = 'd27c5a81-4f3e-5b96-a8d0-1e6b9c3f7a42';

export const itemReference = { item_type: 'ad' as const, item_key: AD_ID };

export const placedItem = {
  ...itemReference,
  created_by: MEMBER_ID,
  created_at: '2026-11-20T09:30:00.000Z',
};

export const collection = {
  id: COLLECTION_ID,
  name: 'Winter boots',
  description: 'Launches to watch before the sale.',
  parent_id: null,
  visibility: 'workspace' as const,
  created_by: MEMBER_ID,
  editors: [],
  items: [placedItem],
  item_count: 1,
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
};

export const note = {
  id: NOTE_ID,
  subject_type: 'ad',
  subject_key: AD_ID,
  body: 'The first of theirs with a price in the picture.',
  created_by: MEMBER_ID,
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T10:05:00.000Z',
};
