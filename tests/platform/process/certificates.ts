import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const openssl = (folder: string, command: string): void => {
  execFileSync('openssl', command.split(' '), { cwd: folder, stdio: 'ignore' });
};

export type Certificates = {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** Certificate of an authority that did not sign the server certificate. */
  readonly otherCa: string;
};

/** Creates two authorities. The first signs the server certificate, for localhost. */
export const makeCertificates = (folder: string): Certificates => {
  for (const name of ['ca', 'other-ca']) {
    openssl(
      folder,
      `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`,
    );
  }
  openssl(folder, 'req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr');
  writeFileSync(join(folder, 'names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  openssl(
    folder,
    'x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem',
  );
  return {
    ca: join(folder, 'ca.pem'),
    certificate: join(folder, 'server.pem'),
    key: join(folder, 'server.key'),
    otherCa: join(folder, 'other-ca.pem'),
  };
};
