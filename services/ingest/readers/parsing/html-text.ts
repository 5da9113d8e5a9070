const NAMED: { readonly [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Library HTML has only line breaks, links and escapes, so a full parser is not needed. */
export const plainText = (html: string): string =>
  html
    .replaceAll(/\s*<br\s*\/?>\s*/gi, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(
      /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]+));/gi,
      (whole, decimal?: string, hex?: string, name?: string) => {
        if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
        const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      },
    );
