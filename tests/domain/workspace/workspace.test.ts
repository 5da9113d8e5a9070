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
  test('creates the workspace', () => given(workspace).when(create).records(created));
  test('refuses the id of another workspace', () => {
    const other = createWorkspace({ workspace_id, name: 'Other', plan: 'free', at: AT });
    given(workspace, created).when(other).refuses('already_exists');
  });
});

describe('changePlan', () => {
  const change = changePlan({ workspace_id, plan: 'pro', at: AT });
  test('changes the plan', () =>
    given(workspace, created)
      .when(change)
      .records({ type: 'PlanChanged', data: { workspace_id, plan: 'pro', changed_at: AT } }));
  test('records nothing for the present plan', () =>
    given(workspace, created)
      .when(changePlan({ workspace_id, plan: 'free', at: AT }))
      .records());
  test('refuses when the workspace does not exist', () => given(workspace).when(change).refuses('not_found'));
});

describe('addMember', () => {
  const add = addMember({ workspace_id, member_id: 'mem_1', name: 'Ada', role: 'viewer', at: AT });
  test('adds a member', () => given(workspace, created).when(add).records(added('mem_1')));
  test('changes the role of an existing member', () =>
    given(workspace, created, added('mem_1'))
      .when(addMember({ workspace_id, member_id: 'mem_1', name: 'Ada', role: 'admin', at: AT }))
      .records({
        type: 'MemberRoleChanged',
        data: { workspace_id, member_id: 'mem_1', role: 'admin', changed_at: AT },
      }));
  test('refuses when the workspace does not exist', () => given(workspace).when(add).refuses('not_found'));
  test('stores name and e-mail address encrypted', () =>
    given(workspace, created)
      .when(addMember({ workspace_id, member_id: 'mem_1', name: '', sealed: 'v1.x', role: 'viewer', at: AT }))
      .records({
        type: 'MemberAdded',
        data: { workspace_id, member_id: 'mem_1', name: '', sealed: 'v1.x', role: 'viewer', added_at: AT },
      }));
  test('refuses a member who was erased', () =>
    given(workspace, created, added('mem_1'), erased('mem_1')).when(add).refuses('already_exists'));
  test('refuses a member above the maximum number', () => {
    const full = Array.from({ length: MEMBERS_MAX }, (_, index) => added(`mem_of_${index}`));
    given(workspace, created, ...full)
      .when(add)
      .refuses('quota_used_up');
  });
});

describe('eraseMember', () => {
  const erase = eraseMember({ workspace_id, member_id: 'mem_1', at: AT });
  test('erases the member', () =>
    given(workspace, created, added('mem_1'), added('mem_2')).when(erase).records(erased('mem_1')));
  test('frees a place for another member', () => {
    const full = Array.from({ length: MEMBERS_MAX }, (_, index) => added(`mem_${index}`));
    const add = addMember({ workspace_id, member_id: 'mem_new', name: 'Ada', role: 'viewer', at: AT });
    given(workspace, created, ...full, erased('mem_1'))
      .when(add)
      .records(added('mem_new'));
  });
  test('refuses when the member or the workspace does not exist', () => {
    given(workspace, created).when(erase).refuses('not_found');
    given(workspace).when(erase).refuses('not_found');
  });
});
