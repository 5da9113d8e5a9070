/** Joined `Set-Cookie` headers split at commas, but the date of `Expires` has a comma too. */
const NEXT_COOKIE = /,\s*(?=[!#$%&'*+\-.^_`|~\w]+=)/;

/** Names in lower case. `header`: `Set-Cookie` headers joined by commas. */
export const cookiesOf = (header: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    header.split(NEXT_COOKIE).flatMap((cookie) => {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()] as const];
    }),
  );
