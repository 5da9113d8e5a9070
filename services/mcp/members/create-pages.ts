import type { Provider } from 'oidc-provider';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { createBrowsers } from '#application/sign-in/browsers.ts';
import { createCodes } from '#application/sign-in/codes.ts';
import { createSignInHistory } from '#application/sign-in/history.ts';
import { createInvitations } from '#application/sign-in/invitations.ts';
import { createMemberDirectory } from '#application/sign-in/member-directory.ts';
import { createSignInMail } from '#application/sign-in/sign-in-mail.ts';
import { createBrowserSignInTables, deleteExpiredSignIns } from '#application/sign-in/tables.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { openAddressIndex } from '#application/vault/address-index.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import { type EmailSettings, openEmailChannel } from '#platform/channels/email.ts';
import type { Clock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { ChangingSecret } from '#platform/settings.ts';
import type { Connections } from '../sign-in/connections.ts';
import { type Accounts, resourceOf } from '../sign-in/provider.ts';
import { createAppRequests } from './app-requests.ts';
import { createCookies } from './forms.ts';
import type { MemberPages } from './pages-context.ts';
import { createOwnKeys } from './own-keys.ts';
import { createUpstream } from './upstream.ts';

export type SignInSettings = EmailSettings & {
  readonly SIGN_IN: 'codes' | 'upstream';
  readonly UPSTREAM_ISSUER?: string | undefined;
  readonly UPSTREAM_CLIENT_ID?: string | undefined;
  readonly UPSTREAM_CLIENT_SECRET?: string | undefined;
  readonly MEMBER_VAULT_KEY?: ChangingSecret | undefined;
};

export type SignInDependencies = {
  readonly baseUrl: string;
  readonly connectionDays: number;
  readonly pool: Database;
  readonly db: ReadDatabase;
  readonly memberVault: MemberVault | null;
  readonly workspaceCommands: WorkspaceCommands;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Log;
};

export type MemberSignIn = AsyncDisposable & {
  readonly accounts: Accounts;
  /** Deletes expired rows. Returns how many. */
  tidy(): Promise<number>;
  pages(provider: Provider): MemberPages;
};

export const openMemberSignIn = async (
  dependencies: SignInDependencies,
  settings: SignInSettings,
): Promise<MemberSignIn> => {
  const { baseUrl, pool, clock, log, connections, connectionDays } = dependencies;
  const {
    UPSTREAM_ISSUER: issuer,
    UPSTREAM_CLIENT_ID: clientId,
    UPSTREAM_CLIENT_SECRET: clientSecret,
  } = settings;
  const { MEMBER_VAULT_KEY: vaultKeys } = settings;
  await createBrowserSignInTables(pool);
  const index = vaultKeys === undefined ? null : await openAddressIndex(pool, ...vaultKeys);
  if (settings.SIGN_IN === 'upstream' && issuer === undefined) {
    throw new Error('SIGN_IN=upstream needs UPSTREAM_ISSUER. Set it, or leave SIGN_IN out.');
  }
  if (issuer !== undefined && (clientId === undefined || clientSecret === undefined || index === null)) {
    throw new Error('UPSTREAM_ISSUER needs UPSTREAM_CLIENT_ID, UPSTREAM_CLIENT_SECRET and MEMBER_VAULT_KEY.');
  }
  const directory = createMemberDirectory(dependencies);
  const channel = openEmailChannel(settings, clock);
  const mail = createSignInMail(channel, directory, log);
  return {
    accounts: { find: async (accountId) => ((await directory.has(accountId)) ? { accountId } : null) },
    tidy: () => deleteExpiredSignIns(pool),
    pages: (provider) => ({
      baseUrl,
      connectionDays,
      requests: createAppRequests(provider, resourceOf(baseUrl)),
      connections,
      keys: createOwnKeys(dependencies),
      directory,
      browsers: createBrowsers(pool),
      invitations: createInvitations(pool),
      history: createSignInHistory(dependencies),
      codes: index && settings.SIGN_IN === 'codes' ? { codes: createCodes(pool, index), mail } : null,
      upstream:
        index && issuer !== undefined && clientId !== undefined && clientSecret !== undefined
          ? createUpstream({ pool, index, log }, { issuer, clientId, clientSecret, baseUrl })
          : null,
      cookies: createCookies(baseUrl),
      clock,
      log,
    }),
    [Symbol.asyncDispose]: async () => {
      await mail[Symbol.asyncDispose]();
      channel[Symbol.dispose]();
    },
  };
};
