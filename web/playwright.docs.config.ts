import { defineConfig } from '@playwright/test'
import base from './playwright.config.ts'

// The pictures of docs/serve.md. `npm run pictures` takes them again.
export default defineConfig({ ...base, testDir: 'tests/docs', workers: 1 })
