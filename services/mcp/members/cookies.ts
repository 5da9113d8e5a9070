import type { FastifyReply, FastifyRequest } from 'fastify';

export type CookieName = 'browser' | 'signed-in';

export type Cookies = {
  read(request: FastifyRequest, name: CookieName): string | null;
  /** `maxAgeSeconds` of 0 deletes the cookie. */
  set(reply: FastifyReply, name: CookieName, value: string, maxAgeSeconds: number): void;
};

const VALUE = /^[\w-]{43}$/;

/** `__Host-` makes browsers reject cookies of other hosts of the domain. `Lax` sends cookies when an app links here. */
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
