import type { Caller } from '#application/access/key-lease-cache.ts';

/**
 * Finds the caller by the access token of a connection. `null` when the token is unknown, expired or of an ended
 * connection. API keys are never accepted.
 */
export type VerifyAccessToken = (token: string) => Promise<Caller | null>;

/** Refuses every token: no connection can exist while the authorization server is not part of this process. */
export const verifyAccessToken: VerifyAccessToken = async () => null;
