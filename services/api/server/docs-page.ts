import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../openapi/document.ts';
import { requestIdOf } from '#platform/http/request-id.ts';
import { JSON_CONTENT } from '#platform/http/send-json.ts';

/**
 * Serves the OpenAPI document and a documentation page. The script of the page is served locally, not from a
 * CDN.
 */
export const registerDocumentation = (app: FastifyInstance, baseUrl: string): void => {
  const document = JSON.stringify(openApiDocument(baseUrl));
  app.get('/v1/openapi.json', (request, reply) =>
    reply
      .header('x-request-id', requestIdOf(request.headers['x-request-id']))
      .header('cache-control', 'public, max-age=300')
      .type(JSON_CONTENT)
      .send(document),
  );
  app.register(scalar, {
    routePrefix: '/docs',
    logLevel: 'silent',
    configuration: {
      pageTitle: 'Ad-Intelligence REST Service',
      url: '/v1/openapi.json',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
    },
  });
};
