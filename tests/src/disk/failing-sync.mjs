// Preloaded into a service: every fdatasync fails as on a broken disk while the file in FAIL_SYNCS exists.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { fdatasync } = fs;
fs.fdatasync = (descriptor, done) => {
  if (!fs.existsSync(process.env.FAIL_SYNCS)) return fdatasync(descriptor, done);
  const error = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  setImmediate(() => done(error));
};
syncBuiltinESMExports();
