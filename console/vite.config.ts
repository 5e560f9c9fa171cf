import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // Taken by the server, which puts a fresh one into every page it sends.
  html: { cspNonce: 'SKEIN_NONCE' },
  build: {
    target: 'es2023',
    // The policy allows no data: addresses for scripts, and small files cost no more than inlined ones.
    assetsInlineLimit: 0,
    // Before compression. The first load is held to its limit by what is sent, in the tests.
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    // Left to itself the first page took 45 files and 191 kB (brotli); so it takes 11 and 179 kB, and what pages do not
    // share still comes with the page that needs it.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// },
            {
              name: 'kit',
              minShareCount: 3,
              test: /node_modules\/(@mantine\/(core|hooks)|@floating-ui|@tabler|react-remove-scroll)/,
            },
          ],
        },
      },
    },
  },
  // `npx vite console` beside a running service: the page from here, everything else from there.
  server: { proxy: { '/console': 'http://127.0.0.1:8080', '/api': 'http://127.0.0.1:8080' } },
});
