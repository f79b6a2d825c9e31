import { defineConfig } from '@playwright/test'
import base from './playwright.config.ts'

// The pages of a server while its cluster is upgraded. test/e2e/serve starts it, and runs this.
export default defineConfig({
  ...base, testDir: 'tests/upgrade', workers: 1, timeout: 40 * 60_000,
  use: { ...base.use, baseURL: process.env['REFIT_URL'], ignoreHTTPSErrors: true, actionTimeout: 60_000 },
})
