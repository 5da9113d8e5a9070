import { Refusal } from '#contracts/errors.ts';
import type { Plan, WorkspaceEvent } from '#contracts/events/workspace/workspace.ts';
import type { Role } from '#contracts/values/roles.ts';

/** Stream `workspace-<workspaceId>`: its plan and its members. Operators decide here; there is no self-service. */
export type WorkspaceState = {
  /** `null` until it is created. */
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

export const workspace = { initial, evolve };

/** A workspace's members are people; beyond this somebody is scripting. */
export const MEMBERS_MAX = 1_000;

const requireCreated = (state: WorkspaceState): void => {
  if (state.name === null) throw new Refusal('not_found', 'There is no such workspace.');
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
    if (state.name !== null) throw new Refusal('already_exists', 'A workspace with this id exists.');
    const { workspace_id, name, plan, at } = input;
    return [{ type: 'WorkspaceCreated', data: { workspace_id, name, plan, created_at: at } }];
  };

/** Slots already in use stay in use when the new plan has fewer: nothing is untracked behind anyone's back. */
export const changePlan =
  (input: { readonly workspace_id: string; readonly plan: Plan; readonly at: string }) =>
  (state: WorkspaceState): readonly WorkspaceEvent[] => {
    requireCreated(state);
    if (state.plan === input.plan) return [];
    const { workspace_id, plan, at } = input;
    return [{ type: 'PlanChanged', data: { workspace_id, plan, changed_at: at } }];
  };

/** Adding a present member again sets their role. */
export const addMember =
  (input: {
    readonly workspace_id: string;
    readonly member_id: string;
    readonly name: string;
    /** Name and e-mail address as the vault sealed them; `name` is then empty. */
    readonly sealed?: string;
    readonly role: Role;
    readonly at: string;
  }) =>
  (state: WorkspaceState): readonly WorkspaceEvent[] => {
    requireCreated(state);
    const { workspace_id, member_id, name, sealed, role, at } = input;
    const present = state.members.get(member_id);
    if (present === role) return [];
    if (present !== undefined) {
      return [{ type: 'MemberRoleChanged', data: { workspace_id, member_id, role, changed_at: at } }];
    }
    if (state.erased.has(member_id)) {
      throw new Refusal('already_exists', 'This member was erased. Add the person as a new member.');
    }
    if (state.members.size >= MEMBERS_MAX) {
      throw new Refusal('quota_used_up', `A workspace has at most ${MEMBERS_MAX} members.`);
    }
    const person = sealed === undefined ? { name } : { name, sealed };
    return [{ type: 'MemberAdded', data: { workspace_id, member_id, ...person, role, added_at: at } }];
  };

/** Takes a member out and says so; who they were is forgotten with their key, which no event holds. */
export const eraseMember =
  (input: { readonly workspace_id: string; readonly member_id: string; readonly at: string }) =>
  (state: WorkspaceState): readonly WorkspaceEvent[] => {
    requireCreated(state);
    const { workspace_id, member_id, at } = input;
    if (state.erased.has(member_id)) return [];
    if (!state.members.has(member_id)) throw new Refusal('not_found', 'The workspace has no such member.');
    return [{ type: 'MemberErased', data: { workspace_id, member_id, erased_at: at } }];
  };
