/** Public, because a test world holds made-up data only. Only installations with `TEST_MODE` have it. */
export const TEST_WORLD = {
  workspace_id: 'ws_testw0r1d0000000',
  member_id: 'mem_testw0r1d000000',
  key_id: 'key_testw0r1d000000',
  api_key: 'svc_test_DemoWorldPublicKeyForYourTests4cokLP',
  webhook_secret: 'whsec_VGhlIHRlc3Qgd29ybGQgc2lnbnMgd2l0aCB0aGlzIDE=',
} as const;
