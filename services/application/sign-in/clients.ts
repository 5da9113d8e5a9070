import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { AppIdentification } from '#contracts/events/workspace/connection.ts';

const REDIRECTS_MAX = 10;
const ADDRESS_MAX_LENGTH = 2_000;
const NAME_MAX_LENGTH = 200;
/** Hosts of the member's own computer (RFC 8252, section 7.3). */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
const WEB_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:']);
/** Other ways of granting are dropped, as RFC 7591 allows. */
const GRANT_TYPES: ReadonlySet<string> = new Set(['authorization_code', 'refresh_token']);

/** All other fields are dropped, so that none changes what an app may do. */
const Metadata = z.object({
  client_id: z.string().max(ADDRESS_MAX_LENGTH).optional(),
  client_name: z.string().max(NAME_MAX_LENGTH).optional(),
  client_uri: z.string().max(ADDRESS_MAX_LENGTH).optional(),
  redirect_uris: z.array(z.string().max(ADDRESS_MAX_LENGTH)).min(1).max(REDIRECTS_MAX),
  grant_types: z.array(z.string()).optional(),
  application_type: z.enum(['native', 'web']).optional(),
  token_endpoint_auth_method: z.string().optional(),
  token_endpoint_auth_signing_alg: z.string().optional(),
  jwks: z.looseObject({}).optional(),
  jwks_uri: z.string().max(ADDRESS_MAX_LENGTH).optional(),
});
export type ClientMetadata = z.infer<typeof Metadata>;

const parse = (uri: string): URL | null => (URL.canParse(uri) ? new URL(uri) : null);

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && LOOPBACK_HOSTS.has(hostname);

/** A program on the member's computer: loopback, or a scheme of its own. */
const isNative = (url: URL): boolean => isLoopback(url) || !WEB_SCHEMES.has(url.protocol);

/**
 * Returns the fault as a sentence. Drops `scope`, which the member is asked each time. A program on the member's
 * computer is `native`, so that its port may change.
 */
export const prepareMetadata = (
  input: unknown,
): { readonly metadata: ClientMetadata } | { readonly fault: string } => {
  const parsed = Metadata.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') ?? '';
    return {
      fault: `${field === '' ? 'The metadata' : `\`${field}\``} is not valid; send 1 to ${REDIRECTS_MAX} \`redirect_uris\`.`,
    };
  }
  const { grant_types, application_type, ...metadata } = parsed.data;
  const urls = metadata.redirect_uris.map(parse);
  if (!urls.every((url) => url !== null)) {
    return { fault: 'Each of `redirect_uris` must be an absolute address.' };
  }
  if (urls.some((url) => url.protocol === 'http:' && !isLoopback(url))) {
    return { fault: 'Use https in `redirect_uris`; http is for 127.0.0.1, [::1] and localhost.' };
  }
  return {
    metadata: {
      token_endpoint_auth_method: 'none',
      ...metadata,
      application_type: urls.some(isNative) ? 'native' : (application_type ?? 'web'),
      grant_types: [
        ...new Set(['authorization_code', ...(grant_types ?? []).filter((type) => GRANT_TYPES.has(type))]),
      ],
    },
  };
};

const REGISTERED_PREFIX = 'reg_';
const ID_BYTES = 16;
/** A self-registered app is removed after this unless a member allows it. */
export const REGISTERED_SECONDS = 24 * 60 * 60;

export const newRegisteredId = (): string =>
  `${REGISTERED_PREFIX}${randomBytes(ID_BYTES).toString('base64url')}`;

/** A document's id is its address, a registered one has a prefix. */
export const identificationOf = (clientId: string): AppIdentification => {
  if (clientId.startsWith('https://')) return 'document';
  return clientId.startsWith(REGISTERED_PREFIX) ? 'registration' : 'operator';
};
