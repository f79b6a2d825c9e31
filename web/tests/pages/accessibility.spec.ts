import AxeBuilder from '@axe-core/playwright'
import { overflowOf } from './overflow.ts'
import { expect, test } from './fixture.ts'
import type { scenes } from './scenes.ts'

// Each page is analyzed four times, which takes minutes on a machine with other work.
test.describe.configure({ timeout: 600_000 })

const pages: [string, keyof typeof scenes, string][] = [
  ['sign in', 'idle', '/sign-in'], ['an idle cluster', 'idle', '/'], ['a cluster in an upgrade', 'running', '/'],
  ['a running upgrade', 'running', '/operations/to-v1-36-3'], ['a stalled upgrade', 'stalled', '/operations/to-v1-36-3'],
  ['a blocked drain', 'drainBlocked', '/operations/to-v1-36-3'], ['5,000 nodes', 'large', '/operations/to-v1-36-3'],
  ['an expected outage', 'outageExpected', '/operations/to-v1-36-3'], ['an unexpected outage', 'outageUnexpected', '/operations/to-v1-36-3'],
  ['a plan to approve', 'awaitingApproval', '/operations/to-v1-36-3'], ['a viewer', 'viewer', '/operations/to-v1-36-3'],
  ['a failed node', 'stalled', '/nodes/worker-1'], ['a blocked node', 'drainBlocked', '/nodes/worker-1'],
  ['a page that does not exist', 'idle', '/nothing'],
]

for (const [name, scene, path] of pages) {
  test(`${name}: accessible and complete, light and dark, wide and narrow`, async ({ page, replay }) => {
    const { url } = await replay(scene)
    await page.goto(url + path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => undefined) // the event stream stays open
    for (const width of [1280, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await expect(page.locator('html')).toHaveClass(colorScheme === 'dark' ? /pf-v6-theme-dark/ : /^(?!.*pf-v6-theme-dark)/)
        const { violations } = await new AxeBuilder({ page }).analyze()
        const where = `${name}, ${colorScheme}, ${width} px`
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`), where).toEqual([])
      }
      expect(await overflowOf(page), `${name}, ${width} px`).toEqual([])
    }
  })
}

test('the checks of this file find what they are for', async ({ page, replay }) => {
  const { url } = await replay('idle')
  await page.setViewportSize({ width: 390, height: 900 })
  await page.goto(url)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.evaluate(() => {
    const wide = document.createElement('button')
    wide.className = 'pf-v6-c-progress__bar'
    wide.style.cssText = 'position: absolute; inset-inline-start: 380px; inline-size: 60px; block-size: 20px'
    document.querySelector('main')?.append(wide)
  })
  expect(await overflowOf(page)).not.toEqual([])
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id }) => id)).toContain('button-name')
})
