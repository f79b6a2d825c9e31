import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { changedReport, reports } from '../documents/checks.ts'
import { form } from '../documents/form.ts'
import type { Replay } from '../server/replay.ts'
import { overflowOf } from './overflow.ts'
import { expect, test } from './fixture.ts'
import type { scenes } from './scenes.ts'

// Each page is analyzed four times, which takes minutes on a machine with other work.
test.describe.configure({ timeout: 600_000 })

interface Case {
  name: string
  scene: keyof typeof scenes
  path: string
  /** Brings the page into its state. */
  prepare?: (page: Page, server: Replay) => Promise<void>
}

const upgrade = '/operations/to-v1-36-3'
const chosen = '/upgrade/welcome?release=kubernetes-v1.36.3'

async function configure(page: Page) {
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Configure the upgrade' })).toBeVisible()
}

async function check(page: Page) {
  await configure(page)
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Preflight checks' })).toBeVisible()
}

async function plan(page: Page) {
  await check(page)
  await page.getByRole('button', { name: 'Next: plan' }).click()
  await page.getByText('Manifest', { exact: true }).click()
  await expect(page.getByRole('link', { name: 'Download upgrade.yaml' })).toBeVisible()
}

async function showPlan(page: Page) {
  await page.getByRole('button', { name: 'Show the plan' }).click()
  await expect(page.getByRole('region', { name: 'Approval' }).getByText('v1.35.4 → v1.36.3')).toBeVisible()
  await page.getByRole('region', { name: 'Approval' }).getByText('Stages', { exact: true }).click()
}

const pages: Case[] = [
  { name: 'sign in', scene: 'idle', path: '/sign-in' },
  { name: 'an idle cluster', scene: 'idle', path: '/' },
  { name: 'a cluster after an upgrade', scene: 'succeeded', path: '/' },
  { name: 'a cluster in an upgrade', scene: 'running', path: '/' },
  { name: 'a running upgrade', scene: 'running', path: upgrade },
  { name: 'a stalled upgrade', scene: 'stalled', path: upgrade },
  { name: 'a blocked drain', scene: 'drainBlocked', path: upgrade },
  { name: '5,000 nodes', scene: 'large', path: upgrade },
  { name: 'an expected outage', scene: 'outageExpected', path: upgrade },
  { name: 'an unexpected outage', scene: 'outageUnexpected', path: upgrade },
  { name: 'a plan to approve', scene: 'awaitingApproval', path: upgrade },
  { name: 'a plan to approve, shown', scene: 'awaitingApproval', path: upgrade, prepare: showPlan },
  {
    name: 'a changed plan to approve', scene: 'planChanged', path: upgrade,
    prepare: async (page, { checks }) => {
      checks.report = changedReport()
      await showPlan(page)
    },
  },
  { name: 'an aborted upgrade of components', scene: 'abortedComponents', path: upgrade },
  { name: 'a cluster without Refit', scene: 'notInstalled', path: '/' },
  { name: 'a new cluster', scene: 'fresh', path: '/' },
  { name: 'a viewer', scene: 'viewer', path: upgrade },
  { name: 'a failed node', scene: 'stalled', path: '/nodes/worker-1' },
  { name: 'a blocked node', scene: 'drainBlocked', path: '/nodes/worker-1' },
  { name: 'a page that does not exist', scene: 'idle', path: '/nothing' },
  { name: 'a completed upgrade', scene: 'succeeded', path: upgrade },
  { name: 'an aborted upgrade', scene: 'aborted', path: upgrade },
  {
    name: 'a blocked drain to continue', scene: 'drainBlocked', path: upgrade,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Let the drain of worker-1 continue' }).click()
      await page.getByRole('radio', { name: /Delete the pods/ }).click()
    },
  },
  {
    name: 'the versions to choose from', scene: 'hops', path: '/upgrade/welcome',
    prepare: async (page) => {
      await page.getByRole('radio', { name: /v1\.38\.0/ }).click()
      await page.getByText('From a signed file').click()
    },
  },
  { name: 'no version to choose from', scene: 'noReleases', path: '/upgrade/welcome' },
  {
    name: 'the configuration', scene: 'idle', path: chosen,
    prepare: async (page) => {
      await configure(page)
      await page.getByRole('button', { name: 'Add a pool' }).click()
      await page.getByRole('checkbox', { name: /Canary/ }).first().click()
    },
  },
  {
    name: 'an invalid configuration', scene: 'idle', path: chosen,
    prepare: async (page, { checks }) => {
      checks.invalid = [
        { pointer: '#/pools/0/drain/timeout', detail: 'must be longer than 0s and at most 168h' },
        { pointer: '#/pools/0/maxUnavailable', detail: 'must be a number from 1 to 10000, or a percentage from 1% to 100%' },
        { pointer: '#/target/release', detail: 'there is no ClusterRelease kubernetes-v1.36.3' },
      ]
      await configure(page)
      await page.getByRole('button', { name: 'Check the cluster' }).click()
      await expect(page.getByRole('heading', { name: /3 fields are invalid/ })).toBeVisible()
    },
  },
  {
    name: 'the form of a publisher', scene: 'idle', path: chosen,
    prepare: async (page, { configs }) => {
      configs.form = form
      configs.trust = 'Unverified'
      configs.pending = ['shop']
      await configure(page)
      await page.getByRole('checkbox', { name: 'Use HTTPS' }).click()
      await expect(page.getByLabel(/Password of the database/)).toBeVisible()
      await page.getByRole('button', { name: 'Save the answers' }).click()
      await expect(page.getByRole('heading', { name: /2 fields are invalid/ })).toBeVisible()
    },
  },
  {
    name: 'a check that is running', scene: 'idle', path: chosen,
    prepare: async (page, { checks }) => {
      checks.slow = true
      await check(page)
    },
  },
  { name: 'a check that passed', scene: 'idle', path: chosen, prepare: check },
  {
    name: 'a check that blocks', scene: 'idle', path: chosen,
    prepare: async (page, { checks }) => {
      checks.report = reports.blocked
      await check(page)
    },
  },
  {
    name: 'a finding to waive', scene: 'idle', path: chosen,
    prepare: async (page, { checks }) => {
      checks.report = reports.blocked
      await check(page)
      await page.getByRole('button', { name: 'Waive BudgetNeverAllows: PodDisruptionBudget shop/cart' }).click()
    },
  },
  {
    name: 'a waived finding', scene: 'idle', path: chosen,
    prepare: async (page, { checks }) => {
      checks.report = reports.waived
      await check(page)
    },
  },
  { name: 'a plan', scene: 'idle', path: chosen, prepare: plan },
  {
    name: 'a plan of one node', scene: 'idleOperator', path: chosen,
    prepare: async (page, { checks }) => {
      checks.report = reports.single
      await plan(page)
    },
  },
  {
    name: 'a plan that has changed', scene: 'idle', path: chosen,
    prepare: async (page, { checks }) => {
      checks.onStart = 'plan-changed'
      await plan(page)
      await page.getByRole('button', { name: /Start the upgrade/ }).click()
      await expect(page.getByRole('heading', { name: /The plan has changed/ })).toBeVisible()
    },
  },
  { name: 'a new upgrade during an outage', scene: 'idleOutage', path: chosen, prepare: configure },
]

const screenshots = process.env['REFIT_SCREENSHOTS']

for (const { name, scene, path, prepare } of pages) {
  test(`${name}: accessible and complete, light and dark, wide and narrow`, async ({ page, replay }) => {
    const { server, url } = await replay(scene)
    await page.goto(url + path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await prepare?.(page, server)
    await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => undefined) // the event stream stays open
    for (const width of [1280, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await expect(page.locator('html')).toHaveClass(colorScheme === 'dark' ? /pf-v6-theme-dark/ : /^(?!.*pf-v6-theme-dark)/)
        await settled(page)
        const { violations } = await new AxeBuilder({ page }).analyze()
        const where = `${name}, ${colorScheme}, ${width} px`
        if (screenshots) await photograph(page, `${screenshots}/${name.replaceAll(' ', '-')}-${colorScheme}-${width}.png`)
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`), where).toEqual([])
      }
      expect(await overflowOf(page), `${name}, ${width} px`).toEqual([])
    }
  })
}

/** Waits until the colors have changed: in between, contrasts are too low. */
async function settled(page: Page) {
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity)
    await Promise.allSettled(ending.map(({ finished }) => finished))
  })
}

/** The page scrolls within the window, so that a picture of all of it needs a high window. */
async function photograph(page: Page, file: string) {
  const { width } = page.viewportSize() ?? { width: 1280 }
  const height = await page.evaluate(() => Math.ceil((document.querySelector('#content')?.scrollHeight ?? 900) + 130))
  await page.setViewportSize({ width, height: Math.min(Math.max(height, 600), 5000) })
  await page.screenshot({ path: file })
  await page.setViewportSize({ width, height: 900 })
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
