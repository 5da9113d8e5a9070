import { Refusal } from '#contracts/errors.ts';
import type { Plan, WorkspaceEvent } from '#contracts/events/workspace/workspace.ts';
import type { Role } from '#contracts/values/access.ts';
import type { Decider, SnapshotCodec } from '../decider.ts';

/** Aggregate workspace, stream `workspace-<workspaceId>`: plan and members. Only operators change it. */

export type WorkspaceState = {
  /** `null` when the workspace does not exist. */
  readonly name: string | null;
  readonly plan: Plan;
  readonly members: ReadonlyMap<string, Role>;
  readonly erased: ReadonlySet<string>;
};

const initial: WorkspaceState = { name: null, plan: 'free', members: new Map(), erased: new Set() };

const evolve = (state: WorkspaceState, event: WorkspaceEvent): WorkspaceState => {
  switch (event.type) {
    case 'WorkspaceCreated':
      return { ...state, name: event.data.name, plan: event.data.plan };
    case 'PlanChanged':
      return { ...state, plan: event.data.plan };
    case 'MemberAdded':
    case 'MemberRoleChanged':
      return { ...state, members: new Map(state.members).set(event.data.member_id, event.data.role) };
    case 'MemberErased': {
      const { member_id } = event.data;
      const members = new Map(state.members);
      members.delete(member_id);
      return { ...state, members, erased: new Set(state.erased).add(member_id) };
    }
  }
};

type WorkspaceJson = Omit<WorkspaceState, 'members' | 'erased'> & {
  readonly members: readonly (readonly [string, Role])[];
  readonly erased: readonly string[];
};

const snapshot: SnapshotCodec<WorkspaceState> = {
  version: 1,
  encode: ({ members, erased, ...state }): WorkspaceJson => ({
    ...state,
    members: [...members],
    erased: [...erased],
  }),
  decode: (json) => {
    const { members, erased, ...state } = json as WorkspaceJson;
    return { ...state, members: new Map(members), erased: new Set(erased) };
  },
};

export const workspace: Decider<WorkspaceState, WorkspaceEvent> = { initial, evolve, snapshot };

/** Members are people, so a larger number can only come from a script. */
export const MEMBERS_MAX = 1_000;

const requireCreated = (state: WorkspaceState): void => {
  if (state.name === null) throw new Refusal('not_found', 'Workspace not found.');
};

export const createWorkspace =
  (input: {
    readonly workspace_id: string;
    readonly name: string;
    readonly plan: Plan;
    readonly at: string;
  }) =>
  (state: WorkspaceState): readonly WorkspaceEvent[] => {
    if (state.name === input.name && state.plan === input.plan) return [];
    if (state.name !== null)
      throw new Refusal('already_exists', 'A workspace with this id already exists. Choose another id.');
    const { workspace_id, name, plan, at } = input;
    return [{ type: 'WorkspaceCreated', data: { workspace_id, name, plan, created_at: at } }];
  };

/** With fewer slots, brands stay tracked: only a command untracks. */
export const changePlan =
  (input: { readonly workspace_id: string; readonly plan: Plan; readonly at: string }) =>
  (state: WorkspaceState): readonly WorkspaceEvent[] => {
    requireCreated(state);
    if (state.plan === input.plan) return [];
    const { workspace_id, plan, at } = input;
    return [{ type: 'PlanChanged', data: { workspace_id, plan, changed_at: at } }];
  };

export const addMember =
  (input: {
    readonly workspace_id: string;
    readonly member_id: string;
    readonly name: string;
    /** Encrypted name and address; `name` is then empty. */
    readonly sealed?: string;
    readonly role: Role;
    readonly at: string;
  }) =>
  (state: WorkspaceState): readonly WorkspaceEvent[] => {
    requireCreated(state);
    const { workspace_id, member_id, name, sealed, role, at } = input;
    const currentRole = state.members.get(member_id);
    if (currentRole === role) return [];
    if (currentRole !== undefined) {
      return [{ type: 'MemberRoleChanged', data: { workspace_id, member_id, role, changed_at: at } }];
    }
    if (state.erased.has(member_id)) {
      throw new Refusal('already_exists', 'This member was erased. Add the person as a new member.');
    }
    if (state.members.size >= MEMBERS_MAX) {
      throw new Refusal(
        'quota_used_up',
        `A workspace can have at most ${MEMBERS_MAX} members. Erase one first.`,
      );
    }
    const person = sealed === undefined ? { name } : { name, sealed };
    return [{ type: 'MemberAdded', data: { workspace_id, member_id, ...person, role, added_at: at } }];
  };

/** The vault deletes the member's key, so that name and address become unreadable. */
export const eraseMember =
  (input: { readonly workspace_id: string; readonly member_id: string; readonly at: string }) =>
  (state: WorkspaceState): readonly WorkspaceEvent[] => {
    requireCreated(state);
    const { workspace_id, member_id, at } = input;
    if (state.erased.has(member_id)) return [];
    if (!state.members.has(member_id)) throw new Refusal('not_found', 'Member not found in this workspace.');
    return [{ type: 'MemberErased', data: { workspace_id, member_id, erased_at: at } }];
  };
