import { defineConfig } from '@playwright/test'
import { chromium } from './tests/chromium.ts'

export default defineConfig({
  testDir: 'tests/pages',
  outputDir: 'test-results',
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: 'line',
  use: { launchOptions: chromium, timezoneId: 'UTC', locale: 'en-GB' },
})
