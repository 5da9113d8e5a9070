import { z } from 'zod';
import { listBriefs as listBriefsEndpoint } from '#operations/briefs.ts';
import { NOT_SEEN } from '../../output/notes.ts';
import { tool } from '../define-tool.ts';
import { listAnswer } from '../list-answer.ts';
import { listInput } from '../parameters.ts';

export const listBriefs = tool({
  name: 'list_briefs',
  title: 'List weekly briefs',
  description:
    'Lists weekly briefs about tracked brands, newest first. `fetch` with `brief:<id>` returns one.',
  input: z.strictObject(listInput),
  output: 'structured',
  kind: 'reader',
  scopes: () => ['briefs:read'],
  cost: () => 1,
  run: ({ limit, cursor }, context) =>
    listAnswer(listBriefsEndpoint, { limit, cursor, notes: [NOT_SEEN] }, context),
});
