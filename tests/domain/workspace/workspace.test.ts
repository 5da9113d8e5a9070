import { describe, test } from 'vitest';
import type { WorkspaceEvent } from '#contracts/events/workspace/workspace.ts';
import {
  addMember,
  changePlan,
  createWorkspace,
  eraseMember,
  MEMBERS_MAX,
  workspace,
} from '#domain/workspace/workspace.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const workspace_id = 'ws_1';
const created: WorkspaceEvent = {
  type: 'WorkspaceCreated',
  data: { workspace_id, name: 'Demo', plan: 'free', created_at: AT },
};
const added = (member_id: string): WorkspaceEvent => ({
  type: 'MemberAdded',
  data: { workspace_id, member_id, name: 'Ada', role: 'viewer', added_at: AT },
});
const erased = (member_id: string): WorkspaceEvent => ({
  type: 'MemberErased',
  data: { workspace_id, member_id, erased_at: AT },
});

describe('createWorkspace', () => {
  const create = createWorkspace({ workspace_id, name: 'Demo', plan: 'free', at: AT });
  test('makes it', () => given(workspace).when(create).records(created));
  test('refuses an id that another one has', () => {
    const other = createWorkspace({ workspace_id, name: 'Other', plan: 'free', at: AT });
    given(workspace, created).when(other).refuses('already_exists');
  });
});

describe('changePlan', () => {
  const change = changePlan({ workspace_id, plan: 'pro', at: AT });
  test('changes it', () =>
    given(workspace, created)
      .when(change)
      .records({ type: 'PlanChanged', data: { workspace_id, plan: 'pro', changed_at: AT } }));
  test('to the present one is already so', () =>
    given(workspace, created)
      .when(changePlan({ workspace_id, plan: 'free', at: AT }))
      .records());
  test('refuses where there is no workspace', () => given(workspace).when(change).refuses('not_found'));
});

describe('addMember', () => {
  const add = addMember({ workspace_id, member_id: 'mem_1', name: 'Ada', role: 'viewer', at: AT });
  test('adds them', () => given(workspace, created).when(add).records(added('mem_1')));
  test('with another role changes the role of a present one', () =>
    given(workspace, created, added('mem_1'))
      .when(addMember({ workspace_id, member_id: 'mem_1', name: 'Ada', role: 'admin', at: AT }))
      .records({
        type: 'MemberRoleChanged',
        data: { workspace_id, member_id: 'mem_1', role: 'admin', changed_at: AT },
      }));
  test('refuses where there is no workspace', () => given(workspace).when(add).refuses('not_found'));
  test('keeps who they are sealed', () =>
    given(workspace, created)
      .when(addMember({ workspace_id, member_id: 'mem_1', name: '', sealed: 'v1.x', role: 'viewer', at: AT }))
      .records({
        type: 'MemberAdded',
        data: { workspace_id, member_id: 'mem_1', name: '', sealed: 'v1.x', role: 'viewer', added_at: AT },
      }));
  test('refuses one who was erased', () =>
    given(workspace, created, added('mem_1'), erased('mem_1')).when(add).refuses('already_exists'));
  test('refuses beyond the limit', () => {
    const full = Array.from({ length: MEMBERS_MAX }, (_, place) => added(`mem_of_${place}`));
    given(workspace, created, ...full)
      .when(add)
      .refuses('quota_used_up');
  });
});

describe('eraseMember', () => {
  const erase = eraseMember({ workspace_id, member_id: 'mem_1', at: AT });
  test('takes them out', () =>
    given(workspace, created, added('mem_1'), added('mem_2')).when(erase).records(erased('mem_1')));
  test('makes room for another', () => {
    const full = Array.from({ length: MEMBERS_MAX }, (_, place) => added(`mem_${place}`));
    const add = addMember({ workspace_id, member_id: 'mem_new', name: 'Ada', role: 'viewer', at: AT });
    given(workspace, created, ...full, erased('mem_1'))
      .when(add)
      .records(added('mem_new'));
  });
  test('refuses where there is no such member, or no workspace', () => {
    given(workspace, created).when(erase).refuses('not_found');
    given(workspace).when(erase).refuses('not_found');
  });
});
