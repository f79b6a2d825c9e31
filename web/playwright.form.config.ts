import { defineConfig } from '@playwright/test'
import upgrade from './playwright.upgrade.config.ts'

// The form of a publisher is filled in. test/e2e/serve starts the server, and runs this.
export default defineConfig({ ...upgrade, testDir: 'tests/form', timeout: 6 * 60_000 })
