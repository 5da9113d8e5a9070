export type WorldSite = {
  readonly domain: string;
  /** `null`: the site states no name. */
  readonly name: string | null;
  readonly description: string;
  /** `null`: the site has no imprint. */
  readonly company: string | null;
  readonly country: string;
  /** Addresses of scripts on every page, which tell the tools. */
  readonly scripts: readonly string[];
  readonly products: readonly string[];
};

export type SiteAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const HTML = { 'content-type': 'text/html; charset=utf-8' };

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const page = ({ scripts }: WorldSite, head: string, body: string): string =>
  `<!doctype html><html lang="en"><head>${head}${scripts
    .map((src) => `<script src="${escaped(src)}" async></script>`)
    .join('')}</head><body>${body}
    <footer><a href="/pages/about">About us</a> <a href="/policies/legal-notice">Imprint</a></footer></body></html>`;

const homePage = (site: WorldSite): string => {
  const { domain, name, description, country, products } = site;
  const organisation = {
    '@context': 'https://schema.org',
    '@graph': [
      {
        '@type': 'OnlineStore',
        name,
        logo: { '@type': 'ImageObject', url: '/logo.png' },
        address: { '@type': 'PostalAddress', addressCountry: country },
      },
    ],
  };
  const head = `<title>Buy things | 20 % off today</title><meta name="description" content="${escaped(description)}">
    <link rel="canonical" href="https://${domain}/">
    ${name === null ? '' : `<script type="application/ld+json">${JSON.stringify(organisation)}</script>`}`;
  const links = products
    .map((handle) => `<li><a href="/products/${handle}">${escaped(handle)}</a></li>`)
    .join('');
  return page(site, head, `<h1>Things</h1><ul>${links}</ul><a href="/collections/all">All things</a>`);
};

/** `null` for a path that the site does not have. Each page has an ETag of its content. */
export const answerSite = (
  site: WorldSite,
  { path, ifNoneMatch }: { readonly path: string; readonly ifNoneMatch?: string | undefined },
): SiteAnswer | null => {
  const { company, products } = site;
  const { pathname } = new URL(path, 'https://site.example');
  const product = /^\/products\/([\w-]+)$/.exec(pathname)?.[1];
  const title = (text: string): string => `<title>${escaped(text)}</title>`;
  const body =
    pathname === '/'
      ? homePage(site)
      : product !== undefined && products.includes(product)
        ? page(site, title(product), `<h1>${escaped(product)}</h1><button>Add to cart</button>`)
        : pathname === '/collections/all'
          ? page(site, title('All things'), '<h1>All things</h1>')
          : pathname === '/pages/about'
            ? page(site, title('About us'), '<h1>About us</h1>')
            : pathname === '/policies/legal-notice' && company !== null
              ? page(site, title('Imprint'), `<h1>Imprint</h1><p>${escaped(company)}<br>Main Street 1</p>`)
              : null;
  if (body === null) return null;
  const etag = `"${body.length}-${site.scripts.length}"`;
  if (ifNoneMatch === etag) return { status: 304, headers: { etag }, body: '' };
  return { status: 200, headers: { ...HTML, etag }, body };
};
