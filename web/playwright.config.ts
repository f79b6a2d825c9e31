import { defineConfig } from '@playwright/test'
import { chromium } from './tests/chromium.ts'

export default defineConfig({
  testDir: 'tests/pages',
  outputDir: 'test-results',
  fullyParallel: true,
  workers: 2,
  timeout: 180_000,
  expect: { timeout: 60_000 },
  reporter: 'line',
  use: { launchOptions: chromium, timezoneId: 'UTC', locale: 'en-GB' },
})
