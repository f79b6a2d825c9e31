import react from '@vitejs/plugin-react'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromium } from './tests/chromium.ts'

export default defineConfig({
  plugins: [react()],
  // Found when the first test starts, these would reload the page during the tests.
  optimizeDeps: { include: ['react', 'react-dom/client', 'react-router', 'i18next', 'react-i18next'] },
  test: {
    include: ['tests/components/**/*.test.{ts,tsx}'],
    setupFiles: ['tests/components/setup.ts'],
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions: chromium }),
      instances: [{ browser: 'chromium', viewport: { width: 1280, height: 800 } }],
    },
  },
})
