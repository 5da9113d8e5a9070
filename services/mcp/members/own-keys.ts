import { randomUUID } from 'node:crypto';
import { apiKeysStream } from '#contracts/events/workspace/workspace.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { apiKeys, revokeApiKey } from '#domain/workspace/api-keys.ts';
import type { Clock } from '#platform/clock.ts';
import { listActiveKeysOf } from '#projections/queries/api-keys.ts';

export type OwnKey = {
  readonly keyId: string;
  readonly name: string;
  readonly lastFour: string;
  /** ISO time in UTC, up to 30 seconds late; `null` for an unused key. */
  readonly lastUsedAt: string | null;
};

/** Other members' keys are neither shown nor revoked. */
export type OwnKeys = {
  list(membership: Membership): Promise<readonly OwnKey[]>;
  /** Returns when no process accepts the key. Ignores keys of other members. */
  revoke(membership: Membership, keyId: string): Promise<void>;
};

export const createOwnKeys = ({
  db,
  workspaceCommands,
  clock,
}: {
  readonly db: ReadDatabase;
  readonly workspaceCommands: WorkspaceCommands;
  readonly clock: Clock;
}): OwnKeys => ({
  list: async ({ workspaceId, memberId }) => {
    const rows = await listActiveKeysOf(db, workspaceId, memberId);
    return rows.map(({ key_id: keyId, issued, last_used_at: lastUsedAt }) => {
      const fields = JSON.parse(issued) as { readonly name: string; readonly last_four: string };
      return { keyId, name: fields.name, lastFour: fields.last_four, lastUsedAt };
    });
  },
  revoke: async ({ workspaceId, memberId }, keyId) => {
    const at = clock.now().toISOString();
    const revoke = revokeApiKey({ workspace_id: workspaceId, key_id: keyId, reason: 'revoked', at });
    await workspaceCommands.execute({
      workspaceId,
      stream: apiKeysStream(workspaceId),
      decider: apiKeys,
      decision: (state) => (state.keys.get(keyId)?.member_id === memberId ? revoke(state) : []),
      actor: { kind: 'member', id: memberId },
      requestId: randomUUID(),
      commandId: randomUUID(),
      mayRepeat: false,
      shownIn: ['api-keys'],
      isShared: true,
    });
  },
});
