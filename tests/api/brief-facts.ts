import { randomUUID } from 'node:crypto';
import { briefStream } from '#contracts/events/workspace/brief.ts';
import { brief, briefIdOf, prepareBrief, type Week } from '#domain/workspace/brief.ts';
import type { ApiStack, Key } from './stack.ts';

export const WEEK_46: Week = { name: '2026-W46', from: '2026-11-09', to: '2026-11-15' };

type Prepared = Parameters<typeof prepareBrief>[0];

/** A brief as the worker records it. Answers its id. */
export const recordBrief = async (
  stack: ApiStack,
  key: Key,
  brands: Prepared['brands'],
  { week = WEEK_46, notable_items = [] }: Partial<Pick<Prepared, 'week' | 'notable_items'>> = {},
): Promise<string> => {
  const workspace_id = key.workspaceId;
  const id = briefIdOf(workspace_id, week);
  const { recorded } = await stack.eventStore.decide({
    stream: briefStream(workspace_id, id),
    decider: brief,
    decision: prepareBrief({ workspace_id, week, brands, notable_items, at: '2026-11-16T06:00:01.000Z' }),
    metadata: {
      $correlationId: id,
      $causationId: id,
      request_id: id,
      actor: { kind: 'service', id: 'worker' },
      workspace_id,
      schema_version: 1,
    },
    commandId: randomUUID(),
  });
  await stack.projected(recorded?.position ?? 0n);
  return id;
};
