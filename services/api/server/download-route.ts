import type { FastifyInstance } from 'fastify';
import { Refusal } from '#contracts/errors.ts';
import { DOWNLOAD_PATH } from '#operations/dependencies/links.ts';
import { untilTimeUsedUp, waitsOf, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { requestIdOf } from '#platform/http/request-id.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { sendError } from './send-error.ts';

/** Serves reports by signed URL, outside the pipeline: browsers and spreadsheets send no API key. */
export const registerDownloads = (app: FastifyInstance, dependencies: ApiDependencies): void => {
  const { objectStore, limitFiles } = dependencies;
  app.get<{ Params: { fileName: string }; Querystring: Record<string, unknown> }>(
    `${DOWNLOAD_PATH}/:fileName`,
    async (request, reply) => {
      const requestId = requestIdOf(request.headers['x-request-id']);
      try {
        const { fileName } = request.params;
        const { objectKey } = dependencies.downloadLinks.open(
          fileName,
          request.query,
          dependencies.clock.now(),
        );
        limitFiles(reply);
        // The stream of the file has limits of its own.
        const object = await withTimeBudget(waitsOf(dependencies.requestBudgetMs), () =>
          untilTimeUsedUp(objectStore.open(objectKey)),
        );
        if (!object) throw new Refusal('not_found', 'The file no longer exists. Request the report again.');
        dependencies.log.info({ request_id: requestId, object_key: objectKey }, 'download');
        return await reply
          .header('x-request-id', requestId)
          .header('content-disposition', `attachment; filename="${fileName}"`)
          .header('content-length', object.bytes)
          .header('cache-control', 'private, no-store')
          .header('x-content-type-options', 'nosniff')
          .type('text/csv; charset=utf-8')
          .send(object.read());
      } catch (error) {
        sendError(reply, requestId, error, dependencies.log);
        return reply;
      }
    },
  );
};
