import type { Page } from '@playwright/test'
import { expect, test } from './fixture.ts'

// The times of a machine with other work are figures, not limits. REFIT_LCP sets a limit in seconds.
const limit = Number(process.env['REFIT_LCP'] ?? 60)

/** The time from the navigation to the largest contentful paint so far. */
function largestPaint(page: Page): Promise<number> {
  return page.evaluate(() => new Promise<number>((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0)).observe({ type: 'largest-contentful-paint', buffered: true })
  }))
}

for (const [name, scene, path, heading] of [
  ['cluster', 'running', '/', /Cluster prod/],
  ['upgrade', 'running', '/operations/to-v1-36-3', /Upgrade of prod/],
  ['upgrade_5000_nodes', 'large', '/operations/to-v1-36-3', /Upgrade of prod/],
] as const) {
  test(`the largest contentful paint of ${name}`, async ({ page, replay }) => {
    const { url } = await replay(scene)
    await page.goto(url + path)
    await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible()
    await expect(page.locator('tbody tr').first()).toBeVisible()
    const seconds = await largestPaint(page) / 1000
    console.log(`figure web_lcp_${name} ${seconds.toFixed(2)} s`)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(limit)
  })
}
