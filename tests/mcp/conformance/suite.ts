import { join } from 'node:path';
import { findCachedPackage } from '#tests/cached-package.ts';

const PACKAGE = '@modelcontextprotocol/conformance';
const packages = await findCachedPackage(PACKAGE, '0.2.0-alpha.12');

/** Script of the official conformance suite; `null` when it could not be installed. */
export const SUITE = packages === null ? null : join(packages, PACKAGE, 'dist/index.js');
