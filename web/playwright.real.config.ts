import { defineConfig } from '@playwright/test'
import base from './playwright.config.ts'

// The pages of a running server. TestPages of test/apiserver/serve starts it, and runs these tests.
export default defineConfig({
  ...base, testDir: 'tests/real', workers: 1, fullyParallel: false,
  use: { ...base.use, baseURL: process.env['REFIT_URL'], ignoreHTTPSErrors: true },
})
