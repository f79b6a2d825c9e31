import react from '@vitejs/plugin-react'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromium } from './tests/chromium.ts'

export default defineConfig({
  plugins: [react()],
  // Packages that are found only when a test imports them reload the page during the tests.
  optimizeDeps: { entries: ['src/main.tsx', 'tests/components/*.{ts,tsx}'] },
  test: {
    include: ['tests/components/**/*.test.{ts,tsx}'],
    testTimeout: 60_000,
    setupFiles: ['tests/components/setup.ts'],
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      connectTimeout: 300_000,
      provider: playwright({ launchOptions: chromium }),
      instances: [{ browser: 'chromium', viewport: { width: 1280, height: 800 } }],
    },
  },
})
