import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';

/** Addresses of members, as they are now. */
export type Recipients = {
  /** `null` where the member is erased, or never had an address. */
  emailOf(workspaceId: string, memberId: string): Promise<string | null>;
};

/** Read from the log each time: e-mails are few, and nobody who was erased may be written to once more. */
export const openRecipients = (eventStore: EventStore, vault: MemberVault): Recipients => ({
  emailOf: async (workspaceId, memberId) => {
    let sealed: string | null = null;
    for await (const { type, data } of eventStore.read<WorkspaceEvent>(workspaceStream(workspaceId))) {
      if (type === 'MemberAdded' && data.member_id === memberId) sealed = data.sealed ?? null;
      if (type === 'MemberErased' && data.member_id === memberId) sealed = null;
    }
    if (sealed === null) return null;
    return (await vault.open(workspaceId, memberId, sealed))?.email ?? null;
  },
});
