/** Begins the next cookie in a header that was joined from several. The date of `Expires` has a comma too. */
const NEXT_COOKIE = /,\s*(?=[!#$%&'*+\-.^_`|~\w]+=)/;

/** Returns the names, in lower case, and the values of the cookies in `Set-Cookie` headers that were joined by commas. */
export const cookiesOf = (header: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    header.split(NEXT_COOKIE).flatMap((cookie) => {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()] as const];
    }),
  );
