import type { FastifyInstance } from 'fastify';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { endAllPage, olderConnectionsPage, type ShownConnections } from '../pages/connections-page.ts';
import {
  type ConnectionPosition,
  type ConnectionsOf,
  ENDED_BY_MEMBER_MAX,
  PAGE_SIZE,
} from '../sign-in/connections.ts';
import { formTokenOf, readForm } from './forms.ts';
import {
  ACCOUNT,
  findMembership,
  findSignedIn,
  type MemberPages,
  sendFormRefused,
  sendOn,
  sendPage,
} from './pages-context.ts';

const APPS = `${ACCOUNT}/apps`;
const END_ALL = `${ACCOUNT}/end-all`;
/** Neither ISO times nor ids of connections contain it. */
const SEPARATOR = '~';
const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Postgres rejects other texts, such as one with a zero byte, as a fault. */
const CONNECTION_ID = /^[\w-]{1,200}$/;

const writePosition = ({ allowed_at, connection_id }: ConnectionPosition): string =>
  `${allowed_at}${SEPARATOR}${connection_id}`;

/** Returns `null`, the first page, for an invalid position. */
const readPosition = (text: unknown): ConnectionPosition | null => {
  if (typeof text !== 'string') return null;
  const [allowed_at = '', connection_id = '', ...more] = text.split(SEPARATOR);
  const isPosition = ISO_TIME.test(allowed_at) && CONNECTION_ID.test(connection_id) && more.length === 0;
  return isPosition ? { allowed_at, connection_id } : null;
};

const pathOf = (path: string, fields: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(fields).toString()}`;

/** Admins and owners see and end the apps of all members. */
const isAdmin = ({ role }: Membership): boolean => role === 'admin' || role === 'owner';

const ownOf = ({ workspaceId, memberId }: Membership): ConnectionsOf => ({ workspaceId, memberId });
const visibleOf = (membership: Membership): ConnectionsOf =>
  isAdmin(membership) ? { workspaceId: membership.workspaceId } : ownOf(membership);

export type ListConnections = (
  membership: Membership,
  after?: ConnectionPosition | null,
) => Promise<ShownConnections>;

export const createConnectionList =
  ({ connections, directory }: MemberPages): ListConnections =>
  async (membership, after = null) => {
    const { workspaceId, memberId } = membership;
    const rows = await connections.list(visibleOf(membership), after);
    const others = new Set(rows.map(({ member_id }) => member_id));
    others.delete(memberId);
    const names = new Map(
      await Promise.all([...others].map(async (id) => [id, (await directory.find(id))?.name ?? id] as const)),
    );
    const last = rows.length === PAGE_SIZE ? rows.at(-1) : undefined;
    return {
      after: after === null ? null : writePosition(after),
      olderPath: last ? pathOf(APPS, { workspace: workspaceId, after: writePosition(last) }) : null,
      endAllPath: pathOf(END_ALL, { workspace: workspaceId }),
      rows: rows.map((row) => ({
        connectionId: row.connection_id,
        app: row.app,
        scopes: row.scopes,
        allowedAt: row.allowed_at,
        lastUsedAt: row.last_used_at,
        isConnected: row.connected,
        owner: names.get(row.member_id) ?? null,
      })),
    };
  };

export const registerConnectionPages = (
  app: FastifyInstance,
  pages: MemberPages,
  listConnections: ListConnections,
): void => {
  const { baseUrl, connections, cookies } = pages;

  app.get(APPS, async (request, reply) => {
    const query = request.query as { readonly workspace?: unknown; readonly after?: unknown };
    const signedIn = await findSignedIn(pages, request);
    const membership = await findMembership(pages, request, query.workspace);
    const after = readPosition(query.after);
    if (!signedIn || !membership || !after) return sendOn(reply, ACCOUNT);
    const page = olderConnectionsPage({
      membership,
      formToken: formTokenOf(signedIn.cookie),
      connections: await listConnections(membership, after),
      accountPath: ACCOUNT,
    });
    return sendPage(reply, page);
  });

  app.post(`${ACCOUNT}/end`, async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const membership = await findMembership(pages, request, form.get('workspace'));
    if (!membership) return sendOn(reply, ACCOUNT);
    const connectionId = form.get('connection') ?? '';
    const row = CONNECTION_ID.test(connectionId)
      ? await connections.find(visibleOf(membership), connectionId)
      : null;
    // A connection that ended meanwhile is not found, and the page says so.
    if (row) await connections.endByMember(row, membership.memberId);
    const after = readPosition(form.get('after'));
    const { workspaceId } = membership;
    return sendOn(
      reply,
      after === null ? ACCOUNT : pathOf(APPS, { workspace: workspaceId, after: writePosition(after) }),
    );
  });

  app.get(END_ALL, async (request, reply) => {
    const { workspace } = request.query as { readonly workspace?: unknown };
    const signedIn = await findSignedIn(pages, request);
    const membership = await findMembership(pages, request, workspace);
    if (!signedIn || !membership) return sendOn(reply, ACCOUNT);
    const page = endAllPage({
      membership,
      formToken: formTokenOf(signedIn.cookie),
      isAdmin: isAdmin(membership),
      endedMax: ENDED_BY_MEMBER_MAX,
      accountPath: ACCOUNT,
    });
    return sendPage(reply, page);
  });

  app.post(END_ALL, async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const membership = await findMembership(pages, request, form.get('workspace'));
    if (membership) {
      const of = form.get('of') === 'all' ? visibleOf(membership) : ownOf(membership);
      await connections.endAll(of, membership.memberId);
    }
    return sendOn(reply, ACCOUNT);
  });
};
