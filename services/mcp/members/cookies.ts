import type { FastifyReply, FastifyRequest } from 'fastify';

/** Cookies of a sign-in: the browser before it, and the signed-in browser. */
export type CookieName = 'browser' | 'signed-in';

export type Cookies = {
  read(request: FastifyRequest, name: CookieName): string | null;
  /** Sets a cookie; `maxAgeSeconds` of 0 deletes it. */
  set(reply: FastifyReply, name: CookieName, value: string, maxAgeSeconds: number): void;
};

/** Values that this service sets: 32 bytes in base64url. */
const VALUE = /^[\w-]{43}$/;

/**
 * Creates the reader and writer of cookies. With https, the prefix `__Host-` makes browsers refuse one that another
 * host of the domain set. `Lax`: the cookie must come along when an app leads the browser here.
 */
export const createCookies = (baseUrl: string): Cookies => {
  const isSecure = baseUrl.startsWith('https:');
  const nameOf = (name: CookieName): string => `${isSecure ? '__Host-' : ''}adintel-${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read: ({ headers }, name) => {
      const prefix = `${nameOf(name)}=`;
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
      const value = pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) ?? '';
      return VALUE.test(value) ? value : null;
    },
    set: (reply, name, value, maxAgeSeconds) => {
      void reply.header('set-cookie', `${nameOf(name)}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`);
    },
  };
};
