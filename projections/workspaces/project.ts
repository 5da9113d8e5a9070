import { WORKSPACE, type WorkspaceEvent } from '#contracts/events/workspace/workspace.ts';
import { projection } from '../define-projection.ts';

/** For `me` and for operators. Keys are authenticated elsewhere. */
export const workspaces = projection<WorkspaceEvent>({
  name: 'workspaces',
  version: 2,
  prefixes: [`${WORKSPACE}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const { workspace_id } = event.data;
    switch (event.type) {
      case 'WorkspaceCreated': {
        const { name, plan, created_at } = event.data;
        return [
          { kind: 'upsert', table: 'workspace', key: { workspace_id }, set: { name, plan, created_at } },
        ];
      }
      case 'PlanChanged':
        return [
          { kind: 'upsert', table: 'workspace', key: { workspace_id }, set: { plan: event.data.plan } },
        ];
      case 'MemberAdded': {
        const { member_id, name, sealed = null, role, added_at } = event.data;
        return [
          {
            kind: 'upsert',
            table: 'member',
            key: { workspace_id, member_id },
            set: { name, sealed, role, added_at },
          },
        ];
      }
      case 'MemberRoleChanged': {
        const { member_id, role } = event.data;
        return [{ kind: 'upsert', table: 'member', key: { workspace_id, member_id }, set: { role } }];
      }
      case 'MemberErased': {
        const { member_id } = event.data;
        return [{ kind: 'delete', table: 'member', key: { workspace_id, member_id } }];
      }
    }
  },
});
