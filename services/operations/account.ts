import { z } from 'zod';
import { PLANS, SCOPES } from '#contracts/values/access.ts';
import { ListedMember, Me } from '#contracts/resources/workspace/api-key.ts';
import { countTrackedBrands } from '#projections/tracking/read.ts';
import { findNames, listMemberPage } from '#projections/workspaces/read.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from './endpoint/examples.ts';
import { memberNameOf } from './dependencies/member-names.ts';
import { noParams, noQuery, pageQuery } from './endpoint/parameters.ts';
import { pageReply } from './endpoint/reply.ts';
import { workspaceRead } from './endpoint/kinds.ts';

export const getMe = endpoint({
  method: 'GET',
  path: '/v1/me',
  operationId: 'getMe',
  tag: 'Account',
  scope: 'me:read',
  summary: 'Read who is calling',
  description: "The caller's workspace, role, plan and granted scopes.",
  params: noParams,
  query: noQuery,
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'record',
    data: Me,
    example: {
      workspace_id: WORKSPACE_ID,
      workspace_name: 'Demo',
      member: { id: 'mem_2h8k4n6p0r5s7v9w', name: 'Ada' },
      key_id: 'key_9d3f5h7k1m2n4p6q',
      role: 'owner',
      plan: 'pro',
      scopes: ['brands:read', 'tracking:read', 'tracking:write', 'me:read'],
      tracked_brands: { used: 3, slots: 50 },
      requests_per_minute: 1_000,
    },
  },
  errors: [],
  corpus: false,
  reads: ['workspaces', 'tracking'],
  handler: async ({ caller }, dependencies) => {
    const { db } = dependencies;
    const { workspaceId, memberId, keyId, role, plan, scopes } = caller;
    const [names, used] = await Promise.all([
      findNames(db, workspaceId, memberId),
      countTrackedBrands(db, workspaceId),
    ]);
    const { slots, requestsPerMinute } = PLANS[plan];
    const me = {
      workspace_id: workspaceId,
      workspace_name: names?.workspace_name ?? null,
      member: {
        id: memberId,
        name: names && (await memberNameOf(dependencies, { workspaceId, memberId, ...names })),
      },
      key_id: keyId,
      role,
      plan,
      scopes: SCOPES.filter((scope) => scopes.has(scope)),
      tracked_brands: { used, slots },
      requests_per_minute: requestsPerMinute,
    };
    return { data: JSON.stringify(me), asOf: null };
  },
});

export const listMembers = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/members',
  operationId: 'listMembers',
  tag: 'Account',
  scope: 'me:read',
  summary: 'List members',
  description:
    "The workspace's members in the order in which they were added. Other replies name members by their ids. An erased member stays listed, without a name.",
  query: z.strictObject(pageQuery),
  reply: {
    status: 200,
    shape: 'paged',
    data: ListedMember,
    example: [
      { id: 'mem_2h8k4n6p0r5s7v9w', name: 'Ada', role: 'owner', added_at: '2026-11-02T08:30:00.000Z' },
    ],
  },
  reads: ['workspaces'],
  beyondContract: true,
  handler: async ({ params, page }, dependencies) => {
    const { rows, next } = await listMemberPage(dependencies.db, params.ws, page);
    const items = await Promise.all(
      rows.map(async ({ member_id: memberId, name, sealed, role, added_at }) =>
        JSON.stringify({
          id: memberId,
          name: await memberNameOf(dependencies, { workspaceId: params.ws, memberId, name, sealed }),
          role,
          added_at,
        }),
      ),
    );
    return pageReply({ items, next }, null);
  },
});
