import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inflate } from '@sparticuz/chromium';

/** Unpacks the packaged browser into the temporary folder. Runs in a separate process, because the package reads TMPDIR. */
const packed = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '../bin');
const parts = ['chromium.br', 'fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br'];
await Promise.all(parts.map((part) => inflate(join(packed, part))));

// The package's own fonts.conf names folders of the cloud service that it is made for. Without a font, no text is shown
// at all.
writeFileSync(
  join(tmpdir(), 'fonts/fonts.conf'),
  `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`,
);
