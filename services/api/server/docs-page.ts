import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { hash } from 'node:crypto';
import { requestIdOf } from '#platform/http/request-headers.ts';
import { type MemoryFile, memoryFile, sendMemoryFile } from '#platform/http/memory-file.ts';
import { JSON_CONTENT } from '#platform/http/http-server.ts';
import { openApiDocument } from '../openapi/document.ts';
import { markdownPages } from '../openapi/markdown.ts';

const PAGE_PATH = '/docs/';
const SCRIPT_PATH = '/docs/js/scalar.js';
const DOCUMENT_PATH = '/v1/openapi.json';
/** The document and the page change with a release only. */
const CACHE_CONTROL = 'public, max-age=300';

const CONFIGURATION = {
  pageTitle: 'Ad-Intelligence REST Service',
  url: DOCUMENT_PATH,
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
} as const;

/** Hides links to the maker that have no setting, and keeps names in tables on one line. */
const OWN_STYLE =
  '<style>a[href*="scalar.com"],.ask-ai-scalar{display:none!important}td code{white-space:nowrap}</style>';
/** Without an icon, browsers ask for `/favicon.ico`, which does not exist. */
const NO_ICON = '<link rel="icon" href="data:,">';
/** The maker's source map is not in the package. */
const SOURCE_MAP = /\n\/\/# sourceMappingURL=\S*\s*$/;
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

type Page = { readonly html: string; readonly script: string };

let rendered: Promise<Page> | null = null;

const renderPage = (): Promise<Page> =>
  (rendered ??= (async () => {
    const { default: scalar } = await import('@scalar/fastify-api-reference');
    const maker = fastify();
    await maker.register(scalar, { routePrefix: '/docs', logLevel: 'silent', configuration: CONFIGURATION });
    const [page, script] = [await maker.inject(PAGE_PATH), await maker.inject(SCRIPT_PATH)];
    await maker.close();
    if (page.statusCode !== 200 || script.statusCode !== 200) throw new Error('reference page not rendered');
    const html = page.body.replace('</head>', `${NO_ICON}${OWN_STYLE}</head>`);
    return { html, script: script.body.replace(SOURCE_MAP, '') };
  })());

/** The script of the page writes styles, so these are allowed. */
const contentSecurityPolicy = (html: string, baseUrl: string): string => {
  const hashes = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src 'self' ${new URL(baseUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
};

const openPage = async (baseUrl: string) => {
  const { html, script } = await renderPage();
  return {
    policy: contentSecurityPolicy(html, baseUrl),
    page: memoryFile('text/html; charset=utf-8', html),
    script: memoryFile('text/javascript; charset=utf-8', script),
  };
};

/** Addresses of the document and the guide for programs that look for them (RFC 9727, with links as in RFC 9264). */
const apiCatalog = (baseUrl: string): MemoryFile => {
  const links = {
    anchor: `${baseUrl}/v1`,
    'service-desc': [{ href: `${baseUrl}${DOCUMENT_PATH}`, type: 'application/json' }],
    'service-doc': [
      { href: `${baseUrl}${PAGE_PATH}`, type: 'text/html' },
      { href: `${baseUrl}/llms.txt`, type: 'text/plain' },
    ],
  };
  return memoryFile('application/linkset+json', JSON.stringify({ linkset: [links] }));
};

const openMarkdown = (baseUrl: string): ReadonlyMap<string, MemoryFile> =>
  new Map(
    markdownPages(baseUrl).map(({ path, text }) => [
      path,
      memoryFile(path.endsWith('.md') ? 'text/markdown; charset=utf-8' : 'text/plain; charset=utf-8', text),
    ]),
  );

const sendDocumentation = (
  request: FastifyRequest,
  reply: FastifyReply,
  file: MemoryFile,
): Promise<FastifyReply> =>
  sendMemoryFile(
    request,
    reply
      .header('x-request-id', requestIdOf(request.headers['x-request-id']))
      .header('cache-control', CACHE_CONTROL)
      .header('x-content-type-options', 'nosniff'),
    file,
  );

/** Delays the preparation of the page: no start of a process waits for it, and no visitor does. */
const PREPARED_AFTER_MS = 2_000;

/** Serves the document and the page from memory, prepared late: loading them takes a third of a process's start. */
export const registerDocumentation = (app: FastifyInstance, baseUrl: string): void => {
  let document: MemoryFile | null = null;
  let opened: ReturnType<typeof openPage> | null = null;
  const openedDocument = (): MemoryFile =>
    (document ??= memoryFile(JSON_CONTENT, JSON.stringify(openApiDocument(baseUrl))));
  const openedPage = () => (opened ??= openPage(baseUrl));
  const prepare = (): void => {
    openedDocument();
    openedPage().catch((error: unknown) => app.log.error(error, 'documentation page not prepared'));
  };
  let timer: NodeJS.Timeout | null = null;
  app.addHook('onListen', async () => {
    timer = setTimeout(prepare, PREPARED_AFTER_MS).unref();
  });
  app.addHook('onClose', async () => {
    if (timer !== null) clearTimeout(timer);
  });
  const serve = (path: string, open: () => MemoryFile | Promise<MemoryFile>): void => {
    app.get(path, { exposeHeadRoute: true }, async (request, reply) =>
      sendDocumentation(request, reply, await open()),
    );
  };
  serve(DOCUMENT_PATH, openedDocument);
  const catalog = apiCatalog(baseUrl);
  serve('/.well-known/api-catalog', () => catalog);
  let markdown: ReadonlyMap<string, MemoryFile> | null = null;
  const openedMarkdown = () => (markdown ??= openMarkdown(baseUrl));
  for (const path of ['/llms.txt', '/docs/guide/:page', '/docs/reference/:page']) {
    app.get(path, { exposeHeadRoute: true }, (request, reply) => {
      const file = openedMarkdown().get(request.url.split('?', 1)[0] ?? '');
      if (file === undefined) return reply.callNotFound();
      return sendDocumentation(request, reply, file);
    });
  }
  app.get('/docs', { exposeHeadRoute: true }, (_request, reply) => reply.redirect(PAGE_PATH, 301));
  app.get(PAGE_PATH, { exposeHeadRoute: true }, async (request, reply) => {
    const { page, policy } = await openedPage();
    void reply
      .header('cache-control', CACHE_CONTROL)
      .header('content-security-policy', policy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer');
    return sendMemoryFile(request, reply, page);
  });
  serve(SCRIPT_PATH, async () => (await openedPage()).script);
};
