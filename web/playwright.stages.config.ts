import { defineConfig } from '@playwright/test'
import upgrade from './playwright.upgrade.config.ts'

// Upgrades that are paused and aborted in each stage. test/e2e/serve starts the server, and runs this.
export default defineConfig({ ...upgrade, testDir: 'tests/stages' })
