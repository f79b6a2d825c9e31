import { defineConfig } from '@playwright/test'
import upgrade from './playwright.upgrade.config.ts'

// An upgrade that is steered on its page. test/e2e/serve starts the server, causes the faults, and runs this.
export default defineConfig({ ...upgrade, testDir: 'tests/steer' })
