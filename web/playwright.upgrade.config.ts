import { defineConfig } from '@playwright/test'
import base from './playwright.config.ts'
import { chromium } from './tests/chromium.ts'

const baseURL = process.env['REFIT_URL']

// The pages of a server while its cluster is upgraded. test/e2e/serve starts it, and runs this.
export default defineConfig({
  ...base, testDir: 'tests/upgrade', workers: 1, timeout: 40 * 60_000,
  use: {
    ...base.use, baseURL, ignoreHTTPSErrors: true, actionTimeout: 60_000,
    launchOptions: { ...chromium, args: [...chromium.args, `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(baseURL ?? 'https://none').hostname}`] },
  },
})
