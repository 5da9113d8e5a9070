import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';

/** Current e-mail addresses of members. */
export type Recipients = {
  /** Returns `null` when the member was erased or never had an address. */
  emailOf(workspaceId: string, memberId: string): Promise<string | null>;
};

/** Reads the log for each e-mail: e-mails are few, and an erased member must not receive another one. */
export const openRecipients = (eventStore: EventStore, vault: MemberVault): Recipients => ({
  emailOf: async (workspaceId, memberId) => {
    let encrypted: string | null = null;
    for await (const { type, data } of eventStore.read<WorkspaceEvent>(workspaceStream(workspaceId))) {
      if (type === 'MemberAdded' && data.member_id === memberId) encrypted = data.sealed ?? null;
      if (type === 'MemberErased' && data.member_id === memberId) encrypted = null;
    }
    if (encrypted === null) return null;
    return (await vault.open(workspaceId, memberId, encrypted))?.email ?? null;
  },
});
