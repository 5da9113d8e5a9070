import { ERRORS, Refusal } from '#contracts/errors.ts';
import { overloadOf } from '#operations/endpoint/overload.ts';
import { parseUtf8Form } from '#platform/http/utf8.ts';
import type { FastifyInstance } from 'fastify';
import { registerAccountPages, registerInvitationPages } from './account-routes.ts';
import { type MemberPages, sendMessage } from './pages-context.ts';
import { registerRequestPages } from './request-routes.ts';
import { registerUpstreamReturn } from './sign-in-routes.ts';
import { UpstreamUnavailable } from './upstream.ts';

const FORM_MAX_BYTES = 16 * 1024;
/** Retry delay while the upstream provider is unavailable. */
const UPSTREAM_RETRY_SECONDS = 30;
const FORM_TYPE = 'application/x-www-form-urlencoded';

export const registerMemberPages = async (app: FastifyInstance, pages: MemberPages): Promise<void> => {
  const { host } = new URL(pages.baseUrl);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer', bodyLimit: FORM_MAX_BYTES }, parseUtf8Form);
    // Against DNS rebinding: other host names get no page.
    scope.addHook('onRequest', async (request, reply) => {
      if (request.headers.host !== host) {
        await sendMessage(reply, 403, 'Wrong address', `This service is at ${pages.baseUrl}.`);
      }
    });
    scope.setErrorHandler(async (error, request, reply) => {
      if (error instanceof Refusal && error.code === 'limit_reached') {
        return sendMessage(reply, ERRORS[error.code].status, 'A limit is reached', error.message);
      }
      if (error instanceof UpstreamUnavailable) {
        pages.log.warn({ err: error, request_id: request.id }, 'upstream sign-in unavailable');
        void reply.header('retry-after', String(UPSTREAM_RETRY_SECONDS));
        return sendMessage(
          reply,
          ERRORS.overloaded.status,
          'You cannot sign in now',
          `${error.message} Start the sign-in again in a minute.`,
        );
      }
      const refusal = overloadOf(error);
      if (refusal !== null) {
        pages.log.warn({ err: error, request_id: request.id }, 'page not done in time');
        void reply.header('retry-after', String(refusal.retryAfterSeconds));
        return sendMessage(
          reply,
          ERRORS[refusal.code].status,
          'This takes too long now',
          'Reload the page in a few seconds.',
        );
      }
      const { statusCode = 500 } = error as { readonly statusCode?: number };
      if (statusCode < 500) {
        pages.log.info({ err: error, request_id: request.id }, 'page refused');
        return sendMessage(
          reply,
          statusCode,
          'This cannot be read',
          'Go back, reload the page and try again.',
        );
      }
      pages.log.error({ err: error, request_id: request.id }, 'page failed');
      return sendMessage(
        reply,
        500,
        'Something went wrong here',
        'Reload the page. If it happens again, tell the operator of this service.',
        `Request: ${request.id}`,
      );
    });
    registerRequestPages(scope, pages);
    registerUpstreamReturn(scope, pages);
    registerInvitationPages(scope, pages);
    registerAccountPages(scope, pages);
  });
};
