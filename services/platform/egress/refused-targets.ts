/** Lead into a cloud's control plane, although not all registries list them. Each entry names its source. */
export const REFUSED_RANGES: readonly { readonly range: string; readonly source: string }[] = [
  // Azure: DNS, health probes and the wire server. It looks like a public address.
  {
    range: '168.63.129.16/32',
    source: 'https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16',
  },
  // AWS, Google, Azure, Oracle, DigitalOcean and others: instance metadata.
  {
    range: '169.254.169.254/32',
    source: 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html',
  },
  {
    range: 'fd00:ec2::254/128',
    source: 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html',
  },
  // AWS: credentials of containers.
  {
    range: '169.254.170.2/32',
    source: 'https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html',
  },
  // Google: instance metadata over IPv6.
  { range: 'fd20:ce::254/128', source: 'https://cloud.google.com/compute/docs/metadata/querying-metadata' },
  // Alibaba: instance metadata.
  {
    range: '100.100.100.200/32',
    source: 'https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata',
  },
  // Oracle: instance metadata of the classic generation.
  {
    range: '192.0.0.192/32',
    source:
      'https://docs.oracle.com/en/cloud/iaas/compute-iaas-cloud/stcsg/retrieving-instance-metadata.html',
  },
  // Scaleway: instance metadata over IPv6.
  { range: 'fd00:42::42/128', source: 'https://www.scaleway.com/en/docs/instances/how-to/use-cloud-init/' },
];

/** Metadata or control planes of clouds. Names below them are refused too. */
export const REFUSED_NAMES: readonly { readonly name: string; readonly source: string }[] = [
  {
    name: 'metadata.google.internal',
    source: 'https://cloud.google.com/compute/docs/metadata/querying-metadata',
  },
  { name: 'metadata.goog', source: 'https://cloud.google.com/compute/docs/metadata/querying-metadata' },
  {
    name: 'instance-data.ec2.internal',
    source: 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html',
  },
  {
    name: 'metadata.azure.internal',
    source: 'https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service',
  },
  {
    name: 'metadata.azure.com',
    source: 'https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service',
  },
  { name: 'metadata.tencentyun.com', source: 'https://www.tencentcloud.com/document/product/213/4934' },
  {
    name: 'metadata.platformequinix.com',
    source: 'https://deploy.equinix.com/developers/docs/metal/server-metadata/metadata/',
  },
  {
    name: 'metadata.packet.net',
    source: 'https://deploy.equinix.com/developers/docs/metal/server-metadata/metadata/',
  },
  {
    name: 'kubernetes.default.svc',
    source: 'https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/',
  },
];
