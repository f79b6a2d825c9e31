import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The address of a running `refit serve`, to which `vite dev` forwards requests of the API.
const server = process.env['REFIT_SERVER'] ?? 'https://127.0.0.1:8443'

export default defineConfig({
  plugins: [react()],
  // The package exports its development build only.
  resolve: { alias: [{ find: /^react-router$/, replacement: fileURLToPath(new URL('node_modules/react-router/dist/production/index.mjs', import.meta.url)) }] },
  server: { proxy: { '/api': { target: server, secure: false } } },
  build: {
    // The Content-Security-Policy permits no inline styles or scripts, and fonts from 'self' only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
